// SPDX-License-Identifier: Apache-2.0

/// Tells when a frame will be heard, from reports of the latency that jitter.
///
/// The frames are heard at an even pace, so time is a line over the stream position: only the
/// line's offset is estimated: as the mean of the first reports, then by a first-order low-pass
/// with that memory. A report far off the line is taken for an outlier, unless the next ones agree
/// with it.
struct PresentationClock {
  /// A report further off than this is no jitter [ns].
  private static let toleranceNanoseconds = 30e6
  private static let reportsToBelieveAJump = 3
  /// How many reports the estimate remembers.
  private static let memory = 24.0

  /// Reports are early by up to a request, as PipeWire's are: its read position stands for a frame
  /// that is heard only after all that was read with the last request. The latest ones are right.
  var reportsAreEarly = false
  private static let riseOfLatest = 0.3
  private static let fallOfLatest = 0.01

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

  /// True until the first report, and after `relock`.
  var isLost: Bool {
    @_noLocks get { weight == 0 }
  }

  /// When the frame at `position` is heard, if a frame written at `now` is heard `latency` later.
  /// Never less than for an earlier position.
  @_noLocks
  mutating func presentationTime(position: Int64, now: Int64, latency: Int64) -> Int64 {
    observe(position: position, now: now, latency: latency)
    return nextPresentationTime(position: position)
  }

  /// When the frame at `position` is heard by the reports so far, but never less than for an
  /// earlier position that was asked for.
  @_noLocks
  mutating func nextPresentationTime(position: Int64) -> Int64 {
    let time = presentationTime(of: position)
    latest = latest > time ? latest : time
    return latest
  }

  /// Takes a report: a frame written at `now` as number `position` is heard `latency` later.
  @_noLocks
  mutating func observe(position: Int64, now: Int64, latency: Int64) {
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

  /// How far the offset goes towards a report.
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
