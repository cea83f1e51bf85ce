// SPDX-License-Identifier: Apache-2.0

/// Notices a server that has stopped working although its connection stands.
///
/// A frozen server sends nothing that could tell so. Two signs of life are watched: requests for
/// audio, and answers to a question asked whenever there was no request for a while. Times are
/// CLOCK_MONOTONIC nanoseconds.
struct Watchdog {
  enum Finding: Equatable {
    /// Ask the server something, and tell `answered` when it answers.
    case ask
    case frozen
    case thawed
  }

  private static let quietBeforeAsking: Int64 = 200_000_000
  private static let patienceForAnswer: Int64 = 450_000_000
  private static let leastPatienceForRequest: Int64 = 800_000_000
  /// A null sink may take two seconds until it asks for the first time.
  private static let patienceAtStart: Int64 = 2_500_000_000

  private(set) var frozenSince: Int64?
  /// When the server last answered or the stream began.
  private(set) var lastAnswer: Int64
  private var asked: Int64?
  private var requestsDueFrom: Int64

  init(now: Int64) {
    lastAnswer = now
    requestsDueFrom = now + Self.patienceAtStart
  }

  /// The stream begins to move again: its first request may take longer.
  mutating func restart(now: Int64) {
    requestsDueFrom = now + Self.patienceAtStart
  }

  mutating func answered(now: Int64) {
    lastAnswer = now
    asked = nil
  }

  /// - Parameters:
  ///   - lastRequest: when audio was last asked for.
  ///   - isRequestDue: false while the stream is paused, suspended or drained.
  ///   - queueDuration: how long the server may go on without asking.
  mutating func check(
    now: Int64, lastRequest: Int64, isRequestDue: Bool, queueDuration: Int64
  ) -> Finding? {
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
      && now - lastRequest > max(Self.leastPatienceForRequest, 2 * queueDuration)
  }
}
