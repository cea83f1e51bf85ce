// SPDX-License-Identifier: Apache-2.0

import Synchronization
import System
import Testing

@Suite struct SequenceRingTests {
  /// A value of many words that all derive from its number.
  private struct Value: BitwiseCopyable, Sendable, Equatable {
    var number: Int
    var numbers = InlineArray<40, Int>(repeating: 0)

    init(_ number: Int) {
      self.number = number
      for index in 0..<40 { numbers[index] = number &* (index + 2) }
    }

    static func == (a: Value, b: Value) -> Bool {
      a.number == b.number && (0..<40).allSatisfy { a.numbers[$0] == b.numbers[$0] }
    }
  }

  private final class Flag: Sendable { let isSet = Atomic<Bool>(false) }

  @Test func keepsOrderAndContent() {
    let ring = SequenceRing(capacity: 8, blank: Value(0))
    defer { ring.deallocate() }
    var position = 0
    for round in 0..<100 {
      for index in 0..<round % 8 { ring.push(Value(round * 10 + index)) }
      for index in 0..<round % 8 { #expect(ring.pop(&position) == Value(round * 10 + index)) }
      #expect(ring.pop(&position) == nil)
    }
  }

  @Test func lateReaderGetsTheNewestValues() {
    let ring = SequenceRing(capacity: 8, blank: Value(0))
    defer { ring.deallocate() }
    for number in 0..<1000 { ring.push(Value(number)) }
    var position = 0
    var numbers: [Int] = []
    while let value = ring.pop(&position) { numbers.append(value.number) }
    #expect(numbers == [996, 997, 998, 999])
  }

  @Test func latestIsTheLastValuePushed() {
    let ring = SequenceRing(blank: Value(0))
    defer { ring.deallocate() }
    #expect(ring.latest == nil)
    for number in 1...9 {
      ring.push(Value(number))
      #expect(ring.latest == Value(number))
      #expect(ring.latest == Value(number))
    }
  }

  /// One writer pushes at full speed while one reader pops all values and another reads the latest.
  @Test func overtakenReaderNeverSeesATornValue() {
    let ring = SequenceRing(capacity: 4, blank: Value(0))
    defer { ring.deallocate() }
    let (flag, count) = (Flag(), 200_000)
    let (writer, latestReader) = (Worker(), Worker())
    let (tornValues, latestReads) = (Counter(), Counter())
    writer.start {
      for number in 0..<count { ring.push(Value(number)) }
      flag.isSet.store(true, ordering: .releasing)
    }
    latestReader.start {
      var last = -1
      while !latestReader.isStopped {
        guard let value = ring.latest else { continue }
        if value != Value(value.number) || value.number < last { tornValues.add() }
        last = value.number
        latestReads.add()
      }
    }
    var (position, last, hasEnded) = (0, -1, false)
    while !hasEnded {
      hasEnded = flag.isSet.load(ordering: .acquiring)
      while let value = ring.pop(&position) {
        if value != Value(value.number) || value.number <= last { tornValues.add() }
        last = value.number
      }
    }
    writer.stop()
    latestReader.stop()
    #expect(tornValues.value == 0)
    #expect(latestReads.value > 0)
    #expect(last == count - 1)
  }

  private final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.add(1, ordering: .relaxed) }
  }
}
