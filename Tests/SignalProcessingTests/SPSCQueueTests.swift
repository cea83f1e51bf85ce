// SPDX-License-Identifier: Apache-2.0

import Glibc
import SignalProcessing
import Testing

@Suite struct SPSCQueueTests {
  @Test func isFirstInFirstOutAndBounded() {
    let queue = SPSCQueue<Int32>(capacity: 3)
    #expect(queue.pop() == nil)
    for round in 0..<5 as Range<Int32> {
      for i in 0..<3 as Range<Int32> { #expect(queue.push(round * 10 + i)) }
      #expect(!queue.push(99))
      for i in 0..<3 as Range<Int32> { #expect(queue.pop() == round * 10 + i) }
      #expect(queue.pop() == nil)
    }
  }

  @Test func passesAMillionValuesBetweenTwoThreads() {
    let queue = SPSCQueue<SIMD2<Int>>(capacity: 61)
    var producer = pthread_t()
    pthread_create(
      &producer, nil,
      { argument in
        let queue = Unmanaged<SPSCQueue<SIMD2<Int>>>.fromOpaque(argument!).takeUnretainedValue()
        for i in 1...1_000_000 {
          while !queue.push(SIMD2(i, -i)) { sched_yield() }
        }
        return nil
      }, Unmanaged.passUnretained(queue).toOpaque())
    var faults = 0
    for i in 1...1_000_000 {
      var value = queue.pop()
      while value == nil {
        sched_yield()
        value = queue.pop()
      }
      if value != SIMD2(i, -i) { faults += 1 }
    }
    pthread_join(producer, nil)
    #expect(faults == 0)
    #expect(queue.pop() == nil)
  }
}
