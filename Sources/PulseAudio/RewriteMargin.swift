// SPDX-License-Identifier: Apache-2.0

/// How far ahead of what is heard the queue can still be written over, learned from the server.
///
/// The server's answer to a timing request that follows a write tells from which position on the
/// sink had not yet read when the write arrived. The distance from there to the first frame written
/// is the slack; where it is negative, that much of the head of the piece was lost.
/// Times are in nanoseconds.
struct RewriteMargin {
  /// Slack that is kept.
  private static let reserve: Int64 = 1_000_000
  /// No single answer moves the margin up by more: it may be a server that stood still for once.
  private static let largestStep: Int64 = 4_000_000
  /// Answers between two steps down.
  private static let answersPerStep = 64

  private(set) var nanoseconds: Int64
  private let limit: Int64
  private var leastSlack = Int64.max
  private var answers = 0
  /// Heads lost among the answers at the limit, as a running share.
  private var lossAtLimit = 0.0

  @_noLocks
  init(start: Int64, limit: Int64) {
    nanoseconds = start < limit ? start : limit
    self.limit = limit
  }

  /// True once writes are lost though the margin is as large as it may be.
  var isBeyondLimit: Bool { lossAtLimit > 0.3 }

  /// Takes the slack of one write.
  mutating func learn(slack: Int64) {
    if slack < 0 {
      nanoseconds = min(nanoseconds + min(Self.reserve - slack, Self.largestStep), limit)
      forget()
    }
    if nanoseconds >= limit {
      lossAtLimit += ((slack < 0 ? 1 : 0) - lossAtLimit) / 16
    } else {
      lossAtLimit = 0
    }
    leastSlack = min(leastSlack, slack)
    answers += 1
    guard answers >= Self.answersPerStep else { return }
    if leastSlack > Self.reserve {
      nanoseconds -= (leastSlack - Self.reserve) / 2
    } else {
      nanoseconds = min(nanoseconds + Self.reserve - leastSlack, limit)
    }
    forget()
  }

  private mutating func forget() {
    answers = 0
    leastSlack = .max
  }
}
