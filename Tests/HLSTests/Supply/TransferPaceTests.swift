// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS

@Suite struct TransferPaceTests {
  /// Returns the time at which a transfer is found to be too slow; nil if it is not within 200 s.
  private func end(seconds: Double, _ bytes: (Double) -> Double) -> Double? {
    var pace = TransferPace(seconds: seconds)
    for step in 0..<2000 {
      let time = 0.1 * Double(step)
      if pace.isTooSlow(bytes: Int(bytes(time)), at: time) { return time }
    }
    return nil
  }

  @Test func averageOfTheWindowCounts() throws {
    for seconds in [2.0, 30] {
      let slow = try #require(end(seconds: seconds) { 95 * $0 })
      #expect((seconds..<1.02 * seconds + 0.2).contains(slow))
      #expect(end(seconds: seconds) { 105 * $0 } == nil)
    }
    // A burst every 20 s, of 110 or of 90 bytes/s on average over the window.
    #expect(end(seconds: 40) { 2200 * ($0 / 20).rounded(.up) } == nil)
    #expect(end(seconds: 40) { 1800 * ($0 / 20).rounded(.down) } != nil)
    // Silence after much data.
    let silent = try #require(end(seconds: 30) { $0 < 50 ? 1e6 * $0 : 5e7 })
    #expect((79.5..<81).contains(silent))
  }

  /// A server that sends 10 bytes and then resets the connection, each time after 0.9 s.
  private struct Resetting: ResourceFetcher {
    func fetch(
      _ request: FetchRequest, goesOn: (FetchTiming) -> Bool
    ) throws(FetchError) -> FetchedResource {
      for step in 0..<10 {
        guard goesOn(FetchTiming(bytes: step, seconds: 0.1 * Double(step))) else {
          throw .interrupted
        }
      }
      throw .connection("reset")
    }
  }

  @Test func repeatedRequestsAreGivenUpTogether() {
    var persistence = PersistentFetcher.Persistence()
    (persistence.attempts, persistence.firstWait, persistence.longestWait) = (100, 0.1, 0.1)
    persistence.seconds = 5
    var calls = 0
    #expect(throws: FetchError.tooSlow(seconds: 5)) {
      try PersistentFetcher(Resetting(), persistence: persistence, pause: { _ in }).fetch(
        FetchRequest(.network("http://h/a"), limit: 100),
        goesOn: { _ in
          calls += 1
          return true
        })
    }
    #expect((45...60).contains(calls))
    #expect(!FetchError.tooSlow(seconds: 5).isPassing)
    #expect("\(FetchError.tooLong(limit: 64 << 10))" == "the data exceed 64 KiB")
    #expect("\(FetchError.tooLong(limit: 16 << 20))" == "the data exceed 16 MiB")
  }
}
