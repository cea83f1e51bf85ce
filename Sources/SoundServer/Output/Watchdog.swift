// SPDX-License-Identifier: Apache-2.0

/// Detects a server that has stopped working although its connection is intact.
///
/// A frozen server does not report that it is frozen. The watchdog therefore monitors the server's
/// requests for audio. After 200 ms without a request or an answer, it also asks the server a
/// question (`Finding.ask`) and monitors the answer.
///
/// If there was no check for more than 400 ms, this process itself has probably been stopped. What
/// the server did in that time is unknown, so the waits for a request and for an answer begin
/// again. Times are CLOCK_MONOTONIC nanoseconds.
package struct Watchdog {
  package enum Finding: Equatable {
    /// Send the server a question, and call `answered` when it answers.
    case ask
    case frozen
    case thawed
  }

  private static let quietBeforeAsking: Int64 = 200_000_000
  private static let patienceForAnswer: Int64 = 450_000_000
  private static let leastPatienceForRequest: Int64 = 800_000_000
  /// Time allowed for the first request after playback starts or restarts [ns]. A null sink may
  /// take two seconds.
  private static let patienceAtStart: Int64 = 2_500_000_000
  /// If more time than this passes between checks, this process counts as having been stopped [ns].
  /// The time is several tick intervals long.
  private static let longestPause: Int64 = 400_000_000

  package private(set) var frozenSince: Int64?
  /// When the server last answered; at first, when the stream began.
  package private(set) var lastAnswer: Int64
  private var asked: Int64?
  private var requestsDueFrom: Int64
  private var lastCheck: Int64?
  /// When this process last continued after it was stopped; at first, when the stream began.
  private var continued: Int64

  package init(now: Int64) {
    lastAnswer = now
    continued = now
    requestsDueFrom = now + Self.patienceAtStart
  }

  /// Notes that playback started or restarted at `now`. No request is due in the next 2.5 s.
  package mutating func restart(now: Int64) {
    requestsDueFrom = now + Self.patienceAtStart
  }

  package mutating func answered(now: Int64) {
    lastAnswer = now
    asked = nil
  }

  /// Returns a change of the server's state, or `ask` if a question is due; nil if neither applies.
  ///
  /// - Parameters:
  ///   - lastRequest: the time of the last attempt to fill the queue or, with PipeWire, of the last
  ///     cycle.
  ///   - isRequestDue: whether the server is expected to request audio.
  ///   - queueDuration: how long the server can play without a request [ns].
  package mutating func check(
    now: Int64, lastRequest: Int64, isRequestDue: Bool, queueDuration: Int64
  ) -> Finding? {
    if let lastCheck, now - lastCheck > Self.longestPause {
      continued = now
      asked = nil
    }
    lastCheck = now
    if let since = frozenSince {
      if (isRequestDue ? lastRequest : lastAnswer) > since {
        frozenSince = nil
        asked = nil
        return .thawed
      }
    } else if isMute(now) || (isRequestDue && isStalled(now, lastRequest, queueDuration)) {
      frozenSince = now
      return .frozen
    }
    if asked == nil, now - max(lastAnswer, lastRequest) > Self.quietBeforeAsking {
      asked = now
      return .ask
    }
    return nil
  }

  private func isMute(_ now: Int64) -> Bool {
    guard let asked else { return false }
    return now - asked > Self.patienceForAnswer
  }

  private func isStalled(_ now: Int64, _ lastRequest: Int64, _ queueDuration: Int64) -> Bool {
    now > requestsDueFrom
      && now - max(lastRequest, continued) > max(Self.leastPatienceForRequest, 2 * queueDuration)
  }
}
