// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Binaural
internal import Geometry
internal import Loudness

/// Measures how loud a source is at the ears of a head that looks ahead: it is rendered for that by the
/// engine that plays it, and beside that measured as it is.
///
/// So every layout, order, HRTF set and treatment is measured in the same way: as it is heard.
final class EarMeter {
  private let renderer: Renderer
  private let ears: LoudnessMeter
  private let source: LoudnessMeter?
  private let rendered: PlanarScratch
  private var poses: [Quaternion] = []
  private let blockFrames = 1024
  /// Frames measured.
  private(set) var frames = 0

  init(layout: ChannelLayout, filters: BinauralFilters, settings: RenderSettings) {
    renderer = Renderer(
      layout: layout, filters: filters, busOrder: settings.busOrder, blockFrames: blockFrames,
      mode: settings.spatialization.includes(layout) ? .spatial : .plain)
    let rate = Int(filters.sampleRate)
    ears = LoudnessMeter(weights: [.main, .main], sampleRate: rate, measuresPeak: true)
    source = ChannelWeight.all(layout).map { LoudnessMeter(weights: $0, sampleRate: rate) }
    rendered = PlanarScratch(channels: 2, frames: blockFrames)
  }

  /// Measures the next frames, at most `blockFrames` at a time.
  func add(_ planes: UnsafePointer<UnsafeMutablePointer<Float>>, frames count: Int) {
    source?.add(planes, frames: count)
    withUnsafeTemporaryAllocation(
      of: UnsafeMutablePointer<Float>.self, capacity: renderer.channels
    ) { piece in
      for done in stride(from: 0, to: count, by: blockFrames) {
        for c in 0..<renderer.channels { piece.initializeElement(at: c, to: planes[c] + done) }
        render(UnsafePointer(piece.baseAddress!), min(blockFrames, count - done))
      }
    }
    frames += count
  }

  private func render(
    _ planes: UnsafePointer<UnsafeMutablePointer<Float>>, _ count: Int
  ) {
    poses.removeAll(keepingCapacity: true)
    for _ in renderer.gridPoints(forNext: count) { poses.append(.identity) }
    renderer.process(
      input: planes, frames: count, poses: poses, left: rendered.planes[0],
      right: rendered.planes[1])
    ears.add(UnsafePointer(rendered.planes), frames: count)
  }

  /// The next frames do not follow on those before.
  func cut() { renderer.reset() }

  /// Of all that was measured; nil while nothing was above the gate.
  var measurement: LoudnessMeasurement? {
    guard let loudness = ears.integrated else { return nil }
    return LoudnessMeasurement(
      ears: loudness, source: source?.integrated, truePeak: ears.truePeak)
  }
}
