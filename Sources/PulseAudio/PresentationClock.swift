// SPDX-License-Identifier: Apache-2.0

/// Tells when a frame will be heard, from reports of the latency that jitter.
///
/// The frames are heard at an even pace, so time is a line over the stream position: only the
/// line's offset is estimated, by a first-order low-pass over the reports. A report far off the
/// line is taken for an outlier, unless the next ones agree with it.
struct PresentationClock {
  /// A report further off than this is no jitter [ns].
  private static let toleranceNanoseconds = 30e6
  private static let reportsToBelieveAJump = 3
  private static let gain = 1.0 / 16

  private let nanosecondsPerFrame: Double
  private var offsetNanoseconds = 0.0
  private var strangeReports = 0
  private var isLocked = false
  private var latest = Int64.min

  init(sampleRate: Int) {
    nanosecondsPerFrame = 1e9 / Double(sampleRate)
  }

  /// The next report is believed whatever it says: after a pause, an underrun, a move.
  mutating func relock() {
    isLocked = false
  }

  /// As `relock`, and time may step back: after a flush or on a new stream.
  mutating func reset() {
    isLocked = false
    latest = .min
  }

  /// When the frame at `position` is heard, if a frame written at `now` is heard `latency` later.
  /// Never less than for an earlier position.
  @_noLocks
  mutating func presentationTime(position: Int64, now: Int64, latency: Int64) -> Int64 {
    let measured = Double(now &+ latency) - Double(position) * nanosecondsPerFrame
    let error = measured - offsetNanoseconds
    if !isLocked {
      lock(to: measured)
    } else if error.magnitude <= Self.toleranceNanoseconds {
      strangeReports = 0
      offsetNanoseconds += Self.gain * error
    } else {
      strangeReports += 1
      if strangeReports >= Self.reportsToBelieveAJump { lock(to: measured) }
    }
    let time = Int64(offsetNanoseconds + Double(position) * nanosecondsPerFrame)
    latest = latest > time ? latest : time
    return latest
  }

  /// The position heard at `time`, no more than `written`; nil before the first report.
  func positionHeard(at time: Int64, written: Int64) -> Int64? {
    guard isLocked else { return nil }
    let position = (Double(time) - offsetNanoseconds) / nanosecondsPerFrame
    return min(Int64(position), written)
  }

  @_noLocks
  private mutating func lock(to offset: Double) {
    offsetNanoseconds = offset
    strangeReports = 0
    isLocked = true
  }
}
