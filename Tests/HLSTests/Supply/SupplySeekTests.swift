// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import HLS

/// Tests seeks in a supply.
extension SupplyTests {
  @Test func seekDiscardsTheQueuedSegments() throws {
    publish(30)
    let hasSought = Mutex(false)
    let (items, _) = try run(
      rule: { _ in FixedRendition(1) },
      meanwhile: { queue, played in
        guard played > 5, !hasSought.withLock({ $0 }) else { return }
        hasSought.withLock { $0 = true }
        _ = queue.seek(to: 81)
      })
    #expect(items.first?.start == 80 && items.last?.start == 116)
    #expect(items.first.map { $0.number > 0 } == true)
  }

  @Test("A download that fails after a seek was requested does not end the queue")
  func failureDuringASeek() {
    let queue = SegmentQueue()
    _ = queue.seek(to: 81)
    queue.fail("nobody answers")
    #expect(queue.failure == nil && !queue.hasEnded)
    #expect(queue.takeSeek() == 81)
    queue.fail("nobody answers")
    #expect(queue.failure != nil && queue.hasEnded)
  }

  @Test("A seek after a failure fetches again, because the server may have returned")
  func seekAfterAFailure() throws {
    publish(40)
    let lost = ["low", "high"].flatMap { name in (5..<40).map { "\(name)/\($0).ts" } }
    for path in lost { server.fail(path, [], always: .connection("nobody answers")) }
    let server = server
    let queue = Mutex<SegmentQueue?>(nil)
    let supply = SegmentSupply(
      try opened(), clock: { server.now },
      pause: { seconds in
        server.wait(seconds)
        // Whatever is fetched is played at once.
        guard let queue = queue.withLock({ $0 }), let end = queue.snapshot.end else { return }
        queue.advance(read: end, heard: end)
      }, rule: { FixedRendition(1) })
    queue.withLock { $0 = supply.queue }
    supply.run { supply.queue.hasEnded || server.now > 300 }
    #expect(supply.queue.failure != nil)
    for path in lost { server.fail(path, []) }
    var number = supply.queue.seek(to: 121)
    supply.run { supply.queue.hasEnded || server.now > 600 }
    #expect(supply.queue.failure == nil && supply.queue.hasEnded)
    #expect(supply.queue.segment(number)?.start == 120)
    while supply.queue.segment(number + 1) != nil { number += 1 }
    #expect(supply.queue.segment(number)?.start == 156)
  }
}
