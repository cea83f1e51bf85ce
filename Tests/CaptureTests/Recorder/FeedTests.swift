// SPDX-License-Identifier: Apache-2.0

import PulseAudio
import Testing

@testable import Capture

/// The events that pass from the capture to the writing thread.
struct FeedTests {
  private func reasons(_ feed: CaptureFeed) -> [String] {
    var samples: [Float] = []
    var all: [String] = []
    while let record = feed.read(into: &samples) {
      if case .sourceLost(let reason)? = record.event { all.append(reason) }
    }
    return all
  }

  @Test func eventsThatWereReadAreReleased() {
    let feed = CaptureFeed(bytes: 4096)
    for number in 0..<1000 {
      feed.receive(.sourceLost(reason: "\(number)"), timeNanoseconds: 1)
      #expect(feed.pendingEvents == 1)
      #expect(reasons(feed) == ["\(number)"])
    }
    #expect(feed.pendingEvents == 0)
  }

  /// Events that did not fit are left out, and those after them are still the right ones.
  @Test func eventsStayInOrderWhenTheBufferIsFull() {
    let feed = CaptureFeed(bytes: 1024)
    for number in 0..<1000 { feed.receive(.sourceLost(reason: "\(number)"), timeNanoseconds: 1) }
    let kept = reasons(feed)
    #expect(kept.count > 10 && kept.count < 1000)
    #expect(kept == kept.indices.map { "\($0)" })
    #expect(feed.pendingEvents == 0)
    feed.receive(.sourceLost(reason: "last"), timeNanoseconds: 1)
    #expect(reasons(feed) == ["last"])
  }
}
