// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Binaural
private import CRealtime
private import Glibc
internal import Loudness
package import Rendering
internal import SignalProcessing
private import Synchronization
internal import System

/// Measures the loudness of a source at the ears on separate threads: first approximately, then
/// completely.
///
/// The estimate is the loudness of the source's channels plus a correction. A `LoudnessSurvey`
/// measures the channels quickly in excerpts. The correction is the difference between the loudness
/// at the ears and in the channels, measured in a few rendered pieces. For a soundfield, two
/// virtual microphones replace the channels (see `ProxyMeter`). A presentation is not surveyed; its
/// estimate is the loudness at the ears of a few pieces that are spread over it. There is no
/// estimate for a source of unknown length, a source of up to 4 s or a presentation of up to 24 s.
///
/// The complete measurement covers the entire source or, if the source is longer than 15 minutes,
/// 90 pieces of 10 s. Reading stops after 120 s. The measurement is stored in the `LoudnessCache`
/// if the source has a stable identity.
package final class LoudnessScan: Sendable {
  struct State {
    /// The best measurement so far; nil if there is none yet.
    var measurement: LoudnessMeasurement?
    /// Whether playback can begin without waiting for a better measurement.
    var isSettled = false
    /// Whether the scan has ended, with or without a complete measurement.
    var isDone = false
  }

  /// Measurements of the same pieces at the ears and in the source's channels.
  private struct Comparison {
    var ears: LoudnessMeasurement
    var channels: Double
    /// The largest magnitude of a sample that the `ProxyMeter` measured.
    var peak: Float
  }

  private struct Content {
    var whole: LoudnessMeasurement?
    var comparison: Comparison?
    /// A measurement of some pieces or of the beginning, used until there is an estimate or a
    /// complete measurement.
    var part: LoudnessMeasurement?
    var pieces = 0
    var isDone = false
  }

  /// The number of rendered pieces for the estimate, and their length in seconds.
  private static let (glances, glanceSeconds) = (4, 1.0)
  /// The number of rendered pieces of a source that is not surveyed, their length in seconds, and
  /// the time limit in seconds.
  private static let (parts, partSeconds, partLimit) = (8, 1.5, 3.0)
  /// The number of excerpts that must have been read before the first piece is chosen, unless the
  /// survey ends earlier.
  private static let choice = 4
  /// The number of pieces in the complete measurement of a long source, and their length in
  /// seconds.
  private static let (pieces, pieceSeconds) = (90, 10.0)
  /// The time limit for the complete measurement, in seconds.
  private static let limit = 120.0

  /// Measures the channels; nil for a presentation.
  private let survey: LoudnessSurvey?
  /// The `stableIdentity` of the source.
  private let identity: String?
  /// The layout of the source before any preparation.
  private let layout: ChannelLayout
  private let settings: RenderSettings
  /// Opens the source again, without any preparation.
  private let raw: @Sendable () throws(PlaybackError) -> any SoundSource
  /// Opens the source again, prepared for rendering.
  private let open: @Sendable () throws(PlaybackError) -> any SoundSource
  private let worker = Worker()
  private let content = Mutex(Content())

  /// Creates a scan of a source, and starts the survey unless the source is a presentation.
  ///
  /// - Returns: nil if the source cannot be opened again.
  package init?(of source: any SoundSource, settings: RenderSettings) {
    guard let another = source.another else { return nil }
    identity = source.stableIdentity
    layout = source.layout
    survey = source.stream == nil ? LoudnessSurvey(open: another) : nil
    raw = another
    open = { () throws(PlaybackError) in try prepared(another(), settings: settings) }
    self.settings = settings
    survey?.start()
  }

  deinit { stop() }

  /// Starts to measure the source as rendered with `filters`, unless the result is in the cache.
  func start(filters: BinauralFilters) {
    let cache = LoudnessCache.standard
    let key = identity.map { LoudnessCache.Key($0, filters: filters, settings: settings) }
    if let known = key.flatMap({ cache?.load($0) }) {
      survey?.stop()
      return content.withLock { ($0.whole, $0.isDone) = (known, true) }
    }
    worker.start { [weak self] in
      guard let whole = self?.run(filters), let key else { return }
      cache?.store(whole, key)
    }
  }

  /// Ends the scan. Waits at most 50 ms for each of its two threads, because a thread can be late
  /// on a busy computer, and reading a file can hang.
  package func stop() {
    survey?.stop()
    worker.stop(withinMilliseconds: 50)
  }

  var current: State {
    let surveyed = survey?.result
    return content.withLock { content in
      let hasGlanced =
        content.part != nil || (surveyed?.isDone == true && content.pieces >= Self.glances)
      return State(
        measurement: content.whole ?? estimate(surveyed, content.comparison) ?? content.part,
        isSettled: content.whole != nil || content.isDone || hasGlanced, isDone: content.isDone)
    }
  }

  /// Waits until playback can begin (`isSettled`), but not longer than `milliseconds`. Without any
  /// measurement, waits up to `extraMilliseconds` longer for one.
  func wait(milliseconds: Int, extraMilliseconds: Int) {
    let end = monotonic_nanoseconds() + Int64(milliseconds) * 1_000_000
    let last = end + Int64(extraMilliseconds) * 1_000_000
    while true {
      let (state, now) = (current, monotonic_nanoseconds())
      if state.isSettled || now >= (state.measurement == nil ? last : end) { return }
      pauseThread(milliseconds: 2)
    }
  }

  // MARK: The estimate

  private func estimate(
    _ survey: LoudnessSurvey.Result?, _ pieces: Comparison?
  ) -> LoudnessMeasurement? {
    guard let survey, let pieces, let loudness = survey.loudness else { return nil }
    let peak = pieces.ears.truePeak.map {
      survey.peak > pieces.peak ? $0 + Double(20 * log10(survey.peak / pieces.peak)) : $0
    }
    return LoudnessMeasurement(
      ears: loudness + pieces.ears.ears - pieces.channels,
      source: ChannelWeight.all(layout) == nil ? nil : loudness, truePeak: peak)
  }

  /// Renders a few pieces that start where loud excerpts start, and compares their loudness at the
  /// ears with their loudness in the channels.
  private func compare(_ source: any SoundSource, _ filters: BinauralFilters) {
    guard let raw = try? raw() else { return }
    let (ears, channels) = (meter(source, filters), ProxyMeter(layout, sampleRate: raw.sampleRate))
    let planes = PlanarScratch(channels: raw.layout.channelCount, frames: 4096)
    let count = Int(Self.glanceSeconds * Double(raw.sampleRate))
    var used: Set<Int> = []
    for _ in 0..<Self.glances {
      guard let start = nextGlance(used) else { break }
      used.insert(start)
      let piece = [(start: start, count: count)]
      read(raw, piece, planes) { channels.add($0, frames: $1) }
      add(piece, of: source, to: ears)
      content.withLock {
        $0.pieces += 1
        if let measured = ears.measurement, let loudness = channels.loudness {
          $0.comparison = Comparison(ears: measured, channels: loudness, peak: channels.peak)
        }
      }
    }
    content.withLock { $0.pieces = Self.glances }
  }

  /// Waits until enough excerpts have been read, and returns the start of an unused excerpt; nil if
  /// there is none, or if the scan was stopped.
  ///
  /// The first call chooses the loudest excerpt, which probably contains the peak. Later calls
  /// choose from the middle of the louder half, because the excerpts with the loudest channels are,
  /// on average, not the loudest at the ears. If that half is used up, they choose the loudest
  /// unused excerpt.
  private func nextGlance(_ used: Set<Int>) -> Int? {
    while !worker.isStopped, let now = survey?.result {
      if now.isDone || now.loudest.count >= Self.choice + used.count {
        let half = now.loudest.prefix((now.loudest.count + 1) / 2).filter { !used.contains($0) }
        return used.isEmpty || half.isEmpty
          ? now.loudest.first { !used.contains($0) } : half[half.count / 2]
      }
      pauseThread(milliseconds: 1)
    }
    return nil
  }

  // MARK: The complete measurement

  /// Makes the estimate, then makes and returns the complete measurement. Returns nil if the source
  /// cannot be opened or read or is silent, or if the scan was stopped.
  private func run(_ filters: BinauralFilters) -> LoudnessMeasurement? {
    defer { content.withLock { $0.isDone = true } }
    guard let source = try? open() else { return nil }
    if let length = source.duration {
      let seconds = Double(length) / Double(source.sampleRate)
      if survey == nil, seconds > 2 * Double(Self.parts) * Self.partSeconds {
        measureParts(source, length, filters)
      } else if seconds > Double(Self.glances) * Self.glanceSeconds {
        compare(source, filters)
      }
    }
    // On Linux, this lowers the priority of the calling thread only.
    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    let ears = meter(source, filters)
    let isComplete = add(wholePlan(source), of: source, to: ears) { [self] in
      publishBeginning(ears, rate: source.sampleRate)
    }
    guard isComplete, let whole = ears.measurement else { return nil }
    content.withLock { $0.whole = whole }
    return whole
  }

  /// Publishes the loudness measured so far if `meter` has measured at least 3 s of sound and there
  /// is no other measurement, for example because the length of the source is unknown.
  private func publishBeginning(_ meter: EarMeter, rate: Int) {
    guard meter.frames >= 3 * rate, current.measurement == nil else { return }
    content.withLock { $0.part = meter.measurement }
  }

  private func measureParts(_ source: any SoundSource, _ length: Int, _ filters: BinauralFilters) {
    let ears = meter(source, filters)
    let piece = Int(Self.partSeconds * Double(source.sampleRate))
    let plan = Self.spread(Self.parts, of: piece, over: length)
    guard add(plan, of: source, to: ears, limit: Self.partLimit) else { return }
    content.withLock { $0.part = ears.measurement }
  }

  private func meter(_ source: any SoundSource, _ filters: BinauralFilters) -> EarMeter {
    EarMeter(
      layout: source.layout, content: source.contentLayout(atFrame: 0),
      isBinaural: source.isBinaural, filters: filters, settings: settings)
  }

  private func wholePlan(_ source: any SoundSource) -> [(start: Int, count: Int)] {
    let piece = Int(Self.pieceSeconds * Double(source.sampleRate))
    guard let length = source.duration, length > Self.pieces * piece else { return [(0, .max)] }
    return Self.spread(Self.pieces, of: piece, over: length)
  }

  /// Divides a source with `length` frames into `pieces` equal parts, and returns the middle
  /// `count` frames of each part.
  static func spread(
    _ pieces: Int, of count: Int, over length: Int
  ) -> [(start: Int, count: Int)] {
    (0..<pieces).map { ((2 * $0 + 1) * length / (2 * pieces) - count / 2, count) }
  }

  /// Measures the pieces of a plan, but stops reading after `limit` seconds. Returns false if the
  /// scan was stopped.
  @discardableResult private func add(
    _ plan: [(start: Int, count: Int)], of source: any SoundSource, to meter: EarMeter,
    limit: Double = LoudnessScan.limit, progress: () -> Void = {}
  ) -> Bool {
    let planes = PlanarScratch(channels: source.layout.channelCount, frames: 4096)
    return read(source, plan, planes, limit: limit, begins: meter.cut) {
      meter.add($0, frames: $1)
      progress()
    }
  }

  /// Reads the pieces of a plan, but stops reading after `limit` seconds. If reading fails,
  /// continues with the next piece. Returns false if the scan was stopped.
  @discardableResult private func read(
    _ source: any SoundSource, _ plan: [(start: Int, count: Int)],
    _ planes: borrowing PlanarScratch,
    limit: Double = LoudnessScan.limit, begins: () -> Void = {},
    _ take: (UnsafePointer<UnsafeMutablePointer<Float>>, Int) -> Void
  ) -> Bool {
    let end = monotonic_nanoseconds() + Int64(limit * 1e9)
    for (start, count) in plan {
      guard (try? source.seek(toFrame: start)) != nil else { continue }
      begins()
      var left = count
      while left > 0 {
        if worker.isStopped { return false }
        if monotonic_nanoseconds() > end { return true }
        guard let got = try? source.read(into: planes.planes, frames: min(4096, left)), got > 0
        else { break }
        take(UnsafePointer(planes.planes), got)
        left -= got
      }
    }
    return true
  }
}
