// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Binaural
internal import Geometry
internal import Loudness
internal import Rendering
internal import SignalProcessing
internal import Surround

/// Measures the loudness of a source at the ears of a head that faces ahead, and that of its own
/// channels. The engine that plays the source renders it for the measurement.
///
/// So every layout, order, HRTF set and treatment is measured in the same way: as the listener
/// hears it.
final class EarMeter {
  private let renderer: Renderer
  private let ears: LoudnessMeter
  private let source: LoudnessMeter?
  /// Whether the source is upmixed stereo. It is then folded down to measure the source, because
  /// loudness tags refer to the stereo sound.
  private let isFolded: Bool
  private let foldDown: MixMatrix
  private let rendered: PlanarScratch
  private let folded: PlanarScratch
  private var poses: [Quaternion] = []
  private let blockFrames = 1024
  /// The number of frames measured.
  private(set) var frames = 0

  /// - Parameters:
  ///   - layout: the layout of the sound to measure.
  ///   - content: its layout before it was prepared.
  init(
    layout: ChannelLayout, content: ChannelLayout, filters: BinauralFilters,
    settings: RenderSettings
  ) {
    renderer = Renderer(
      layout: layout, filters: filters, busOrder: settings.busOrder, blockFrames: blockFrames,
      mode: settings.spatialization.includes(content) ? .spatial : .plain)
    isFolded = content == .stereo && layout != .stereo
    let treatment = Treatment(plain: layout)
    foldDown = MixMatrix(gains: treatment.headLocked, inputs: treatment.inputs)
    let rate = Int(filters.sampleRate)
    ears = LoudnessMeter(weights: [.main, .main], sampleRate: rate, measuresPeak: true)
    source = ChannelWeight.all(isFolded ? content : layout)
      .map { LoudnessMeter(weights: $0, sampleRate: rate) }
    rendered = PlanarScratch(channels: 2, frames: blockFrames)
    folded = PlanarScratch(channels: 2, frames: blockFrames)
  }

  /// Measures the next frames, any number of them, in pieces of at most `blockFrames`.
  func add(_ planes: UnsafePointer<UnsafeMutablePointer<Float>>, frames count: Int) {
    withUnsafeTemporaryAllocation(
      of: UnsafeMutablePointer<Float>.self, capacity: renderer.channels
    ) { piece in
      for done in stride(from: 0, to: count, by: blockFrames) {
        for c in 0..<renderer.channels { piece.initializeElement(at: c, to: planes[c] + done) }
        let part = min(blockFrames, count - done)
        measure(UnsafePointer(piece.baseAddress!), part)
        render(UnsafePointer(piece.baseAddress!), part)
      }
    }
    frames += count
  }

  private func measure(
    _ planes: UnsafePointer<UnsafeMutablePointer<Float>>, _ count: Int
  ) {
    guard let source else { return }
    guard isFolded else { return source.add(planes, frames: count) }
    foldDown.mix(planes, into: folded.planes, frames: count)
    source.add(UnsafePointer(folded.planes), frames: count)
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

  /// Notes that the next frames do not continue those before.
  func cut() { renderer.reset() }

  /// Returns the ungated loudness at the ears [LUFS]; nil for silence.
  func loudness(ofLast seconds: Double) -> Double? { ears.loudness(ofLast: seconds) }

  /// The measurement of all frames; nil if nothing was above the gate.
  var measurement: LoudnessMeasurement? {
    guard let loudness = ears.integrated else { return nil }
    return LoudnessMeasurement(
      ears: loudness, source: source?.integrated, truePeak: ears.truePeak)
  }
}
