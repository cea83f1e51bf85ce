// SPDX-License-Identifier: Apache-2.0

/// Estimates when a frame will be audible, from latency reports that jitter.
///
/// The time is a linear function of the stream position. The offset of the function is the mean of
/// the reported offsets. From the 24th report on, each report moves the offset by 1/24 of its
/// deviation. If `reportsAreEarly` is true, the offset instead follows later times faster than
/// earlier times.
///
/// A report that deviates from the estimate by more than 30 ms is ignored. The third such report in
/// succession restarts the estimate.
package struct PresentationClock {
  /// The largest error of a plausible report [ns].
  private static let toleranceNanoseconds = 30e6
  private static let reportsToBelieveAJump = 3
  /// The number of reports over which the estimate averages.
  private static let memory = 24.0

  /// Whether a reported time can be too early, by up to the duration of one request, as with
  /// PipeWire's PulseAudio protocol. The estimate then follows the later times.
  package var reportsAreEarly = false
  private static let riseOfLatest = 0.3
  private static let fallOfLatest = 0.01

  private let nanosecondsPerFrame: Double
  private var offsetNanoseconds = 0.0
  private var strangeReports = 0
  /// The number of reports in the estimate, at most `memory`; 0 if the next report is accepted
  /// unconditionally.
  private var weight = 0.0
  private var hasOffset = false
  private var latest = Int64.min

  package init(sampleRate: Int) {
    nanosecondsPerFrame = 1e9 / Double(sampleRate)
  }

  /// Accepts the next report unconditionally.
  @_noLocks
  package mutating func relock() {
    weight = 0
  }

  /// Accepts the next report unconditionally. Unlike after `relock`, `positionHeard` returns nil
  /// until that report, and `nextPresentationTime` can return an earlier time than before.
  @_noLocks
  package mutating func reset() {
    weight = 0
    hasOffset = false
    latest = .min
  }

  /// Whether the next report will be accepted unconditionally.
  package var isLost: Bool {
    @_noLocks get { weight == 0 }
  }

  /// Calls `observe` and then `nextPresentationTime`.
  @_noLocks
  package mutating func presentationTime(position: Int64, now: Int64, latency: Int64) -> Int64 {
    observe(position: position, now: now, latency: latency)
    return nextPresentationTime(position: position)
  }

  /// Returns the time at which the frame at `position` is audible, in CLOCK_MONOTONIC nanoseconds.
  /// Results do not decrease until `reset` is called.
  @_noLocks
  package mutating func nextPresentationTime(position: Int64) -> Int64 {
    let time = presentationTime(of: position)
    latest = latest > time ? latest : time
    return latest
  }

  /// Updates the estimate with a report: the frame at `position`, if it is written at the time
  /// `now`, is audible `latency` nanoseconds later.
  @_noLocks
  package mutating func observe(position: Int64, now: Int64, latency: Int64) {
    let measured = Double(now &+ latency) - Double(position) * nanosecondsPerFrame
    let error = measured - offsetNanoseconds
    if weight == 0 {
      lock(to: measured)
    } else if error.magnitude <= Self.toleranceNanoseconds {
      strangeReports = 0
      if weight < Self.memory { weight += 1 }
      offsetNanoseconds += error * share(of: error)
    } else {
      strangeReports += 1
      if strangeReports >= Self.reportsToBelieveAJump { lock(to: measured) }
    }
  }

  /// Returns the time at which the frame at `position` is audible, in CLOCK_MONOTONIC nanoseconds.
  /// Results can decrease.
  @_noLocks
  package func presentationTime(of position: Int64) -> Int64 {
    Int64(offsetNanoseconds + Double(position) * nanosecondsPerFrame)
  }

  /// Returns the stream position that is audible at `time`, at most `written`; nil before the first
  /// report and, after `reset`, until the next one.
  @_noLocks
  package func positionHeard(at time: Int64, written: Int64) -> Int64? {
    guard hasOffset else { return nil }
    let position = (Double(time) - offsetNanoseconds) / nanosecondsPerFrame
    return Int64(position) < written ? Int64(position) : written
  }

  /// Returns the fraction of `error` by which the offset changes.
  @_noLocks
  private func share(of error: Double) -> Double {
    guard reportsAreEarly else { return 1 / weight }
    return error > 0 ? Self.riseOfLatest : Self.fallOfLatest
  }

  @_noLocks
  private mutating func lock(to offset: Double) {
    offsetNanoseconds = offset
    strangeReports = 0
    weight = 1
    hasOffset = true
  }
}
