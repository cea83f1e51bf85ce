// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import Synchronization
import Testing

@testable import HeadTracking

@Suite struct PoseRingTests {
  /// A pose whose every word follows from its number.
  private static func pose(_ number: Int) -> StampedPose {
    let n = Double(number)
    return StampedPose(
      time: Int64(number), arrival: Int64(number) + 1, interval: Int64(number) + 2,
      headToWorld: Quaternion(w: n, x: n + 0.25, y: n + 0.5, z: n + 0.75),
      angularVelocity: SIMD3(-n, -n - 1, -n - 2), hasVelocity: number % 2 == 0,
      reference: UInt16(truncatingIfNeeded: number), breaks: UInt16(truncatingIfNeeded: number * 3))
  }

  @Test func keepsOrderAndContent() {
    let ring = PoseRing(capacity: 8)
    defer { ring.deallocate() }
    var position = 0
    for round in 0..<100 {
      for index in 0..<round % 8 { ring.push(Self.pose(round * 10 + index)) }
      for index in 0..<round % 8 { #expect(ring.pop(&position) == Self.pose(round * 10 + index)) }
      #expect(ring.pop(&position) == nil)
    }
  }

  @Test func aLateReaderGetsTheNewest() {
    let ring = PoseRing(capacity: 8)
    defer { ring.deallocate() }
    for number in 0..<1000 { ring.push(Self.pose(number)) }
    var position = 0
    var numbers: [Int64] = []
    while let pose = ring.pop(&position) { numbers.append(pose.time) }
    #expect(numbers == [996, 997, 998, 999])
  }

  @Test func anOvertakenReaderNeverSeesAMixture() {
    let ring = PoseRing(capacity: 4)
    defer { ring.deallocate() }
    let isDone = Atomic<Bool>(false)
    let writer = Worker()
    final class Flag: Sendable { let isSet = Atomic<Bool>(false) }
    let flag = Flag()
    writer.start {
      for number in 0..<100_000 { ring.push(Self.pose(number)) }
      flag.isSet.store(true, ordering: .releasing)
    }
    var position = 0
    var last: Int64 = -1
    var mixtures = 0
    while !isDone.load(ordering: .relaxed) {
      let hasEnded = flag.isSet.load(ordering: .acquiring)
      while let pose = ring.pop(&position) {
        if pose != Self.pose(Int(pose.time)) || pose.time <= last { mixtures += 1 }
        last = pose.time
      }
      if hasEnded { isDone.store(true, ordering: .relaxed) }
    }
    writer.stop()
    #expect(mixtures == 0)
    #expect(last == 99_999)
  }

  @Test func aWorkerEndsPromptly() {
    let worker = Worker()
    worker.start { while !worker.isStopped { worker.sleep(milliseconds: 10_000) } }
    usleep(20_000)
    let start = ContinuousClock.now
    worker.stop()
    #expect(ContinuousClock.now - start < .milliseconds(100))
  }
}
