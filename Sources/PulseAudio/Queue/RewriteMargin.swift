// SPDX-License-Identifier: Apache-2.0

/// How far ahead of what is heard the queue can still be written over, learned from the server.
///
/// It is the most that the sink lately said to have read of what is not heard yet, and an extra
/// that is measured: the server's answer to a timing request that follows a write tells from which
/// position on the sink had not yet read when the write arrived. The distance from there to the
/// first frame written is the slack; where it is negative, that much of the head was lost. Times
/// are in nanoseconds.
struct RewriteMargin {
  /// Slack that is kept.
  private static let reserve: Int64 = 1_000_000
  /// No single answer moves the margin up by more: it may be a server that stood still for once.
  private static let largestStep: Int64 = 4_000_000
  /// A step down that is hardly one.
  private static let leastStep: Int64 = 250_000
  /// Answers between two steps down.
  private static let answersPerStep = 64
  /// Answers after a step up that do not move it again: one stall loses many heads.
  private static let answersPerStepUp = 8
  /// What the sink says is remembered for this many reports, and at most as many more.
  private static let reportsRemembered = 32
  private static let largestLossAtLimit = 0.3

  let limit: Int64
  private var extra: Int64
  private var peak: Int64
  private var nextPeak: Int64 = 0
  private var reports = 0
  private var leastSlack = Int64.max
  private var answers = 0
  private var answersToSkip = 0
  /// Heads lost among the answers at the limit, as a running share.
  private var lossAtLimit = 0.0

  /// - Parameters:
  ///   - readAhead: what the sink is known to read ahead before anything is measured.
  ///   - extra: to begin with.
  ///   - limit: the margin is never larger.
  @_noLocks
  init(readAhead: Int64, extra: Int64, limit: Int64) {
    peak = readAhead
    self.extra = extra
    self.limit = limit
  }

  var nanoseconds: Int64 {
    @_noLocks get {
      let wanted = peak + extra
      return wanted < 0 ? 0 : (wanted < limit ? wanted : limit)
    }
  }

  /// True while the sink says that it reads further ahead than the margin may be.
  var isSinkBeyondLimit: Bool { peak > limit }

  /// True once writes are lost though the margin is as large as it may be.
  var isLosingAtLimit: Bool { lossAtLimit > Self.largestLossAtLimit }

  /// True while little is to be learned: the last answers moved it by next to nothing.
  private(set) var isSettled = false

  /// Takes how much the sink says to have read of what is not heard yet.
  mutating func learn(readAhead: Int64) {
    nextPeak = max(nextPeak, readAhead)
    peak = max(peak, readAhead)
    reports += 1
    guard reports >= Self.reportsRemembered else { return }
    reports = 0
    peak = nextPeak
    nextPeak = 0
  }

  /// What the sink said so far was of another time.
  mutating func forgetReports() {
    peak = 0
    nextPeak = 0
    reports = 0
  }

  /// Takes the slack of one write.
  mutating func learn(slack: Int64) {
    if nanoseconds < limit {
      lossAtLimit = 0
    } else {
      lossAtLimit += ((slack < 0 ? 1 : 0) - lossAtLimit) / 32
    }
    if answersToSkip > 0 {
      answersToSkip -= 1
      return
    }
    if slack < 0 {
      grow(by: min(Self.reserve - slack, Self.largestStep))
      answersToSkip = Self.answersPerStepUp
      return
    }
    leastSlack = min(leastSlack, slack)
    answers += 1
    guard answers >= Self.answersPerStep else { return }
    if leastSlack < Self.reserve {
      grow(by: Self.reserve - leastSlack)
    } else {
      let step = (leastSlack - Self.reserve) / 2
      extra -= step
      isSettled = step < Self.leastStep
      forget()
    }
  }

  private mutating func grow(by step: Int64) {
    extra = min(extra + step, limit)
    isSettled = false
    forget()
  }

  private mutating func forget() {
    answers = 0
    leastSlack = .max
  }
}

/// Decides when to stop rewriting on a sink that reads too far ahead, and when to try again.
struct RewriteJudge {
  /// Until rewriting is tried again where it got lost [ns].
  private static let patienceAfterLosses: Int64 = 60_000_000_000
  private static let patienceBeyondLimit: Int64 = 4_000_000_000

  private var retryTime: Int64 = 0
  /// When the sink last read no further ahead than it may.
  private var withinLimit: Int64 = 0

  /// Begins anew on another sink.
  mutating func restart(now: Int64) { withinLimit = now }

  /// - Parameter hasBegun: false for a new stream, whose sink may still have an old depth.
  mutating func givesUp(_ margin: RewriteMargin, hasBegun: Bool, now: Int64) -> Bool {
    if !margin.isSinkBeyondLimit { withinLimit = now }
    let isBeyond = now - withinLimit > Self.patienceBeyondLimit
    guard margin.isLosingAtLimit || (isBeyond && hasBegun) else { return false }
    retryTime = now + (margin.isLosingAtLimit ? Self.patienceAfterLosses : 0)
    return true
  }

  mutating func triesAgain(_ margin: RewriteMargin, now: Int64) -> Bool {
    guard !margin.isSinkBeyondLimit, now >= retryTime else { return false }
    withinLimit = now
    return true
  }
}
