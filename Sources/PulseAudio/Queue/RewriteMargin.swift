// SPDX-License-Identifier: Apache-2.0

/// The distance from the audible frame to the first queued frame that can be rewritten.
///
/// The margin is the sink's greatest recent read-ahead plus an extra. The extra is learned from the
/// slack of the writes: the distance from the end of the frames that the sink had read to the first
/// frame written. A negative slack means that the start of the window was lost. Times are in
/// nanoseconds.
struct RewriteMargin {
  /// The minimum slack to maintain.
  private static let reserve: Int64 = 1_000_000
  /// The largest increase of the extra after one lost start.
  private static let largestStep: Int64 = 4_000_000
  /// The margin counts as settled after a decrease of less than this.
  private static let leastStep: Int64 = 250_000
  /// The margin is adjusted after this many measured writes without a lost start.
  private static let answersPerStep = 64
  /// After a lost start, this many measured writes do not adjust the margin.
  private static let answersPerStepUp = 8
  /// A maximum of the read-ahead is remembered for at least this number of reports, and for at most
  /// twice that number.
  private static let reportsRemembered = 32
  /// The share of lost starts above which rewriting at the limit is not worthwhile.
  private static let largestLossAtLimit = 0.3

  let limit: Int64
  private var extra: Int64
  private var peak: Int64
  private var nextPeak: Int64 = 0
  private var reports = 0
  private var leastSlack = Int64.max
  private var answers = 0
  private var answersToSkip = 0
  /// The smoothed share of measured writes with a lost start; 0 while the margin is below its
  /// limit.
  private var lossAtLimit = 0.0

  @_noLocks
  init(readAhead: Int64, extra: Int64, limit: Int64) {
    peak = readAhead
    self.extra = extra
    self.limit = limit
  }

  /// The margin, from 0 to `limit`.
  var nanoseconds: Int64 {
    @_noLocks get {
      let wanted = peak + extra
      return wanted < 0 ? 0 : (wanted < limit ? wanted : limit)
    }
  }

  var isSinkBeyondLimit: Bool { peak > limit }

  /// Whether the starts of more than 30 % of the windows are lost with the margin at its limit.
  var isLosingAtLimit: Bool { lossAtLimit > Self.largestLossAtLimit }

  /// Whether the last adjustment was a decrease of less than `leastStep`.
  private(set) var isSettled = false

  /// Updates the recent maximum of the sink's reported read-ahead.
  mutating func learn(readAhead: Int64) {
    nextPeak = max(nextPeak, readAhead)
    peak = max(peak, readAhead)
    reports += 1
    guard reports >= Self.reportsRemembered else { return }
    reports = 0
    peak = nextPeak
    nextPeak = 0
  }

  mutating func forgetReports() {
    peak = 0
    nextPeak = 0
    reports = 0
  }

  /// Notes the slack of one write. Increases the extra after a lost start, and adjusts it after
  /// `answersPerStep` writes without a lost start.
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

/// Decides when rewriting stops and when it is tried again.
struct RewriteJudge {
  /// The time until the next try after rewriting has stopped because of too many lost starts [ns].
  private static let patienceAfterLosses: Int64 = 60_000_000_000
  /// The time for which the sink may read beyond the limit [ns].
  private static let patienceBeyondLimit: Int64 = 4_000_000_000

  private var retryTime: Int64 = 0
  /// The time from which `patienceBeyondLimit` counts, in CLOCK_MONOTONIC nanoseconds.
  private var withinLimit: Int64 = 0

  /// Restarts the time for which the sink may read beyond the limit.
  mutating func restart(now: Int64) { withinLimit = now }

  /// Returns whether rewriting should stop.
  ///
  /// - Parameter hasBegun: false shortly after a stream begins, moves or is flushed, when its sink
  ///   may still report an old latency.
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
