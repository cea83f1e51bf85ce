// SPDX-License-Identifier: Apache-2.0

/// How much time each sample stands for, whatever its stamp says: gaps, bursts after a stall,
/// clocks that wrap or jump, and samples out of order.
struct SampleSpacing: Sendable {
  /// What a sample's stamp means for the filter.
  struct Step: Sendable {
    /// Seconds from the sample before to this one; 0 for the first and for a second one of the
    /// same moment.
    var seconds: Double
    /// Seconds of a gap that ended one sample ago, now known not to be filled by a burst.
    var missedSeconds: Double
    /// The sample is older than one that has been used.
    var isStale: Bool
    /// The clock jumped, or nothing was heard for long: what was known of motion is void.
    var isBreak: Bool

    @_noLocks
    init(
      seconds: Double, missedSeconds: Double = 0, isStale: Bool = false, isBreak: Bool = false
    ) {
      self.seconds = seconds
      self.missedSeconds = missedSeconds
      self.isStale = isStale
      self.isBreak = isBreak
    }
  }

  /// The usual spacing in seconds; 0 before the second sample.
  private(set) var interval: Double
  private var last: Int64
  private var hasLast: Bool
  /// Seconds of the newest gap that no sample has accounted for yet.
  private var open: Double
  private var staleRun: Int

  /// A stamp beyond that is another clock, or another time.
  private static var breakNanoseconds: Int64 { @_noLocks get { 2_000_000_000 } }
  private static var shortest: Double { @_noLocks get { 1e-4 } }
  private static var longest: Double { @_noLocks get { 0.2 } }

  @_noLocks
  init() {
    interval = 0
    last = 0
    hasLast = false
    open = 0
    staleRun = 0
  }

  /// - Parameter time: the sample's stamp in nanoseconds.
  @_noLocks
  mutating func advance(to time: Int64) -> Step {
    let before = last
    if !hasLast {
      last = time
      hasLast = true
      return Step(seconds: 0)
    }
    let (delta, overflow) = time.subtractingReportingOverflow(before)
    let isFar = delta > Self.breakNanoseconds ? true : delta < -Self.breakNanoseconds
    if overflow { return jump(to: time) }
    if isFar { return jump(to: time) }
    if delta < 0 {
      staleRun += 1
      // Some late samples are a shuffled queue; more are a clock that was set back.
      if staleRun <= 8 { return Step(seconds: 0, isStale: true) }
      return jump(to: time)
    }
    staleRun = 0
    last = time
    return step(Double(delta) * 1e-9)
  }

  @_noLocks
  private mutating func jump(to time: Int64) -> Step {
    last = time
    open = 0
    staleRun = 0
    return Step(seconds: interval, isBreak: true)
  }

  /// A gap is first taken for a stall, after which the samples come in a burst; each of those then
  /// stands for the usual spacing. If no burst comes the gap was real, and is given back.
  @_noLocks
  private mutating func step(_ seconds: Double) -> Step {
    guard interval > 0 else {
      if seconds > 0 { interval = Self.clamped(seconds, Self.shortest, Self.longest) }
      return Step(seconds: seconds < Self.longest ? seconds : Self.longest)
    }
    if open > 0, seconds < interval / 2 {
      let filled = open < interval - seconds ? open : interval - seconds
      open -= filled
      return Step(seconds: seconds + filled)
    }
    let missed = open
    open = 0
    let isGap = seconds > 4 * interval
    if isGap {
      // The second gap in a row is a slower rate.
      if missed > 0 { learn(seconds) }
      open = seconds - interval
      return Step(seconds: interval, missedSeconds: missed)
    }
    learn(seconds)
    return Step(seconds: seconds, missedSeconds: missed)
  }

  @_noLocks
  private mutating func learn(_ seconds: Double) {
    let heard = Self.clamped(seconds, interval / 2, interval * 2)
    interval = Self.clamped(
      interval + (heard - interval) * (heard < interval * 2 ? 0.0625 : 0.5), Self.shortest,
      Self.longest)
  }

  @_noLocks
  private static func clamped(_ value: Double, _ low: Double, _ high: Double) -> Double {
    if value < low { return low }
    return value > high ? high : value
  }
}
