// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Binaural
private import CRealtime
private import Glibc
internal import Loudness
internal import Rendering
internal import SignalProcessing
private import Synchronization
internal import System

/// Measures the loudness of a source on a separate thread: first quickly from a few pieces, then
/// completely.
///
/// There is no quick measurement of a short source, or if the length is unknown. A long source is
/// measured from many pieces instead of completely.
package final class LoudnessScan: Sendable {
  struct State {
    /// The best measurement so far; nil if there is none yet.
    var measurement: LoudnessMeasurement?
    var isDone = false
  }

  /// The number of pieces in the quick measurement, and their length in seconds.
  private static let (glances, glanceSeconds) = (8, 1.5)
  /// The number of pieces in the second measurement of a long source, and their length in seconds.
  private static let (pieces, pieceSeconds) = (90, 10.0)
  /// The time limits for the first and the second measurement, in seconds.
  private static let (glanceLimit, limit) = (3.0, 120.0)

  private let open: @Sendable () throws(PlaybackError) -> any SoundSource
  private let filters: BinauralFilters
  private let settings: RenderSettings
  private let worker = Worker()
  private let state = Mutex(State())

  /// Creates a scan. `open` opens the source again, prepared for rendering.
  init(
    filters: BinauralFilters, settings: RenderSettings,
    open: @escaping @Sendable () throws(PlaybackError) -> any SoundSource
  ) {
    (self.filters, self.settings, self.open) = (filters, settings, open)
  }

  deinit { worker.stop() }

  func start() {
    worker.start { [weak self] in self?.run() }
  }

  /// Ends the scan. A busy computer may hardly run its thread, and a file may hang, so this waits
  /// at most 50 ms.
  package func stop() { worker.stop(withinMilliseconds: 50) }

  var current: State { state.withLock { $0 } }

  /// Waits for the first measurement or the end of the scan, but not longer than `milliseconds`.
  func wait(milliseconds: Int) {
    let end = monotonic_nanoseconds() + Int64(milliseconds) * 1_000_000
    while monotonic_nanoseconds() < end {
      let now = current
      if now.measurement != nil || now.isDone { return }
      pauseThread(milliseconds: 5)
    }
  }

  private func run() {
    defer { state.withLock { $0.isDone = true } }
    // On Linux, this lowers the priority of the calling thread only.
    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    guard let source = try? open() else { return }
    let piece = Int(Self.glanceSeconds * Double(source.sampleRate))
    if let length = source.duration, length > 2 * Self.glances * piece {
      let plan = Self.spread(Self.glances, of: piece, over: length)
      if let glance = measure(source, plan: plan, limit: Self.glanceLimit) { publish(glance) }
    }
    guard let all = measure(source, plan: wholePlan(source), limit: Self.limit) else { return }
    publish(all)
  }

  private func publish(_ measurement: LoudnessMeasurement) {
    state.withLock { $0.measurement = measurement }
  }

  /// Publishes the measurement so far once 12 s have been read, if there is no measurement yet.
  private func giveFirstWord(_ meter: EarMeter, rate: Int) {
    let enough = Double(Self.glances) * Self.glanceSeconds * Double(rate)
    guard Double(meter.frames) >= enough, current.measurement == nil,
      let measurement = meter.measurement
    else { return }
    publish(measurement)
  }

  private func wholePlan(_ source: any SoundSource) -> [(start: Int, count: Int)] {
    let piece = Int(Self.pieceSeconds * Double(source.sampleRate))
    guard let length = source.duration, length > Self.pieces * piece else { return [(0, .max)] }
    return Self.spread(Self.pieces, of: piece, over: length)
  }

  /// Returns pieces of `count` frames at the centres of equal parts of a source with `length`
  /// frames.
  static func spread(
    _ pieces: Int, of count: Int, over length: Int
  ) -> [(start: Int, count: Int)] {
    (0..<pieces).map { ((2 * $0 + 1) * length / (2 * pieces) - count / 2, count) }
  }

  /// Measures the pieces of a plan, or what can be read of them in `limit` seconds.
  ///
  /// - Returns: the measurement; nil if nothing is above the gate, or if the scan was stopped.
  private func measure(
    _ source: any SoundSource, plan: [(start: Int, count: Int)], limit: Double
  ) -> LoudnessMeasurement? {
    let end = monotonic_nanoseconds() + Int64(limit * 1e9)
    let meter = EarMeter(
      layout: source.layout, content: source.contentLayout(atFrame: 0), filters: filters,
      settings: settings)
    let planes = PlanarScratch(channels: source.layout.channelCount, frames: 4096)
    for (start, count) in plan {
      guard (try? source.seek(toFrame: start)) != nil else { continue }
      meter.cut()
      var left = count
      while left > 0 {
        if worker.isStopped { return nil }
        if monotonic_nanoseconds() > end { return meter.measurement }
        guard let read = try? source.read(into: planes.planes, frames: min(4096, left)), read > 0
        else { break }
        meter.add(UnsafePointer(planes.planes), frames: read)
        left -= read
        giveFirstWord(meter, rate: source.sampleRate)
      }
    }
    return meter.measurement
  }
}
