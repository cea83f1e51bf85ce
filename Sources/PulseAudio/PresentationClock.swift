// SPDX-License-Identifier: Apache-2.0

/// Tells when a frame will be heard, from reports of the latency that jitter.
///
/// The frames are heard at an even pace, so time is a line over the stream position: only the
/// line's offset is estimated: as the mean of the first reports, then by a first-order low-pass
/// with that memory. A report far off the line is taken for an outlier, unless the next ones agree with it.
struct PresentationClock {
  /// A report further off than this is no jitter [ns].
  private static let toleranceNanoseconds = 30e6
  private static let reportsToBelieveAJump = 3
  /// How many reports the estimate remembers.
  private static let memory = 16.0

  private let nanosecondsPerFrame: Double
  private var offsetNanoseconds = 0.0
  private var strangeReports = 0
  /// Reports in the estimate, up to `memory`; 0: the next one is believed whatever it says.
  private var weight = 0.0
  private var hasOffset = false
  private var latest = Int64.min

  init(sampleRate: Int) {
    nanosecondsPerFrame = 1e9 / Double(sampleRate)
  }

  /// The next report is believed whatever it says: after a pause, an underrun, a move.
  @_noLocks
  mutating func relock() {
    weight = 0
  }

  /// As `relock`, and time may step back: after a flush or on a new stream.
  mutating func reset() {
    weight = 0
    hasOffset = false
    latest = .min
  }

  /// When the frame at `position` is heard, if a frame written at `now` is heard `latency` later.
  /// Never less than for an earlier position.
  @_noLocks
  mutating func presentationTime(position: Int64, now: Int64, latency: Int64) -> Int64 {
    let measured = Double(now &+ latency) - Double(position) * nanosecondsPerFrame
    let error = measured - offsetNanoseconds
    if weight == 0 {
      lock(to: measured)
    } else if error.magnitude <= Self.toleranceNanoseconds {
      strangeReports = 0
      if weight < Self.memory { weight += 1 }
      offsetNanoseconds += error / weight
    } else {
      strangeReports += 1
      if strangeReports >= Self.reportsToBelieveAJump { lock(to: measured) }
    }
    let time = Int64(offsetNanoseconds + Double(position) * nanosecondsPerFrame)
    latest = latest > time ? latest : time
    return latest
  }

  /// When the frame at `position` is heard, by the reports so far.
  @_noLocks
  func presentationTime(of position: Int64) -> Int64 {
    Int64(offsetNanoseconds + Double(position) * nanosecondsPerFrame)
  }

  /// The position heard at `time`, no more than `written`; nil before the first report.
  @_noLocks
  func positionHeard(at time: Int64, written: Int64) -> Int64? {
    guard hasOffset else { return nil }
    let position = (Double(time) - offsetNanoseconds) / nanosecondsPerFrame
    return Int64(position) < written ? Int64(position) : written
  }

  @_noLocks
  private mutating func lock(to offset: Double) {
    offsetNanoseconds = offset
    strangeReports = 0
    weight = 1
    hasOffset = true
  }
}
