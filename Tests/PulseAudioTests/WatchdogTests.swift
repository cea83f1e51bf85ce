// SPDX-License-Identifier: Apache-2.0

import SoundServer
import Testing

@testable import PulseAudio

/// Tests the watchdog with ticks of 50 ms. Times are in milliseconds.
@Suite struct WatchdogTests {
  private struct Server {
    var watchdog = Watchdog(now: 0)
    var lastRequest: Int64 = 0
    var frozen: [Int64] = []
    var thawed: [Int64] = []

    /// Advances the time from `start` to `end`.
    mutating func run(
      from start: Int64, to end: Int64, requests: Bool, answers: Bool, isRequestDue: Bool = true
    ) {
      for time in stride(from: start, to: end, by: 50) {
        if requests { lastRequest = time }
        let finding = watchdog.check(
          now: time * 1_000_000, lastRequest: lastRequest * 1_000_000,
          isRequestDue: isRequestDue, queueDuration: 50_000_000)
        switch finding {
        case .ask: if answers { watchdog.answered(now: time * 1_000_000) }
        case .frozen: frozen.append(time)
        case .thawed: thawed.append(time)
        case nil: break
        }
      }
    }
  }

  @Test func workingServerIsNeverReportedFrozen() {
    var server = Server()
    server.run(from: 0, to: 10_000, requests: true, answers: true)
    #expect(server.frozen.isEmpty)
  }

  @Test func freezeIsReportedWithinASecondAndThawAtOnce() {
    var server = Server()
    server.run(from: 0, to: 3000, requests: true, answers: true)
    server.run(from: 3000, to: 6000, requests: false, answers: false)
    #expect(server.frozen.count == 1)
    #expect(server.frozen.allSatisfy { (3300...3900).contains($0) })
    server.run(from: 6000, to: 8000, requests: true, answers: true)
    #expect(server.thawed == [6000])
  }

  @Test func aStopOfThisProcessIsNotBlamedOnTheServer() {
    var server = Server()
    // The last check of the first run has asked a question, whose answer cannot arrive in time.
    server.run(from: 0, to: 3000, requests: true, answers: true)
    server.run(from: 3000, to: 3300, requests: false, answers: false)
    server.run(from: 60_000, to: 60_400, requests: false, answers: true)
    server.run(from: 60_400, to: 65_000, requests: true, answers: true)
    #expect(server.frozen.isEmpty)
    // A server that does not work afterwards is still found.
    server.run(from: 125_000, to: 127_000, requests: false, answers: false)
    #expect(server.frozen.count == 1)
  }

  @Test func serverThatOnlyAnswersCountsAsFrozen() {
    var server = Server()
    server.run(from: 0, to: 3000, requests: true, answers: true)
    server.run(from: 3000, to: 6000, requests: false, answers: true)
    #expect(server.frozen.count == 1)
    #expect(server.frozen.allSatisfy { (3700...4000).contains($0) })
    #expect(server.thawed.isEmpty)
  }

  @Test func aPausedStreamOnlyNeedsAnswers() {
    var server = Server()
    server.run(from: 0, to: 6000, requests: false, answers: true, isRequestDue: false)
    #expect(server.frozen.isEmpty)
    server.run(from: 6000, to: 8000, requests: false, answers: false, isRequestDue: false)
    #expect(server.frozen.count == 1)
  }

  @Test func theFirstRequestMayTakeTwoSeconds() {
    var server = Server()
    server.run(from: 0, to: 2300, requests: false, answers: true)
    #expect(server.frozen.isEmpty)
    server.run(from: 2300, to: 4000, requests: false, answers: true)
    #expect(server.frozen.count == 1)
  }
}
