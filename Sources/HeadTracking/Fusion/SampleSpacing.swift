// SPDX-License-Identifier: Apache-2.0

/// Determines the time step of each sample from its timestamp. Handles gaps, bursts, clock jumps
/// and samples out of order.
struct SampleSpacing: Sendable {
  struct Step: Sendable {
    /// The time that the sample represents, in seconds: usually the time since the previous sample.
    ///
    /// After a gap or a break, this is the usual interval. In a burst that fills a gap, it is at
    /// most the usual interval. For the first sample and for stale samples, it is 0.
    var seconds: Double
    /// Seconds of an earlier gap that no burst has filled.
    var missedSeconds: Double
    /// Whether the sample is out of order and must be ignored.
    var isStale: Bool
    /// Whether the clock jumped, or samples were missing for too long.
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

  /// The usual interval between samples, in seconds; 0 until it is known.
  private(set) var interval: Double
  private var last: Int64
  private var hasLast: Bool
  /// Seconds of the newest gap that no sample has accounted for yet.
  private var open: Double
  private var staleRun: Int

  /// A step between timestamps that is longer than this, in either direction, counts as a break.
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

  /// Returns the time step of the next sample. The timestamp is in nanoseconds.
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
      // Up to eight older timestamps in a row are assumed to belong to samples out of order. If
      // there are more, the clock is assumed to have been set back.
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

  /// Returns the step for a timestamp that is `seconds` (at least 0) later than the previous one.
  ///
  /// After a gap, a burst of delayed samples is expected to fill it. The first step that is not
  /// part of a burst reports the unfilled rest of the gap as missed time.
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
      // A second gap in a row means a lower sampling rate.
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
