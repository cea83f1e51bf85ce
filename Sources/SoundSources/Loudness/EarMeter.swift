// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Binaural
internal import Geometry
internal import Loudness
internal import Rendering
internal import SignalProcessing
internal import Surround

/// Measures the loudness of a sound at the ears of a listener who faces the front. If the channels
/// are loudspeakers, also measures the loudness of the channels.
final class EarMeter {
  private let renderer: Renderer
  private let ears: LoudnessMeter
  private let source: LoudnessMeter?
  /// Whether stereo sound was converted to another layout. If so, `source` measures a fold-down of
  /// that layout to stereo, not its channels.
  private let isFolded: Bool
  private let foldDown: MixMatrix
  private let rendered: PlanarScratch
  private let folded: PlanarScratch
  private var poses: [Quaternion] = []
  private let blockFrames = 1024
  /// The number of frames measured.
  private(set) var frames = 0

  /// Creates a meter. `content` is the layout of the sound before it was prepared. Sound with
  /// `isBinaural` is measured as plain stereo, as it is played. `filters` determines the sample
  /// rate. For `isEndless`, see `LoudnessMeter`.
  init(
    layout: ChannelLayout, content: ChannelLayout, isBinaural: Bool, filters: BinauralFilters,
    settings: RenderSettings, isEndless: Bool = false
  ) {
    let isSpatial = !isBinaural && settings.spatialization.includes(content)
    renderer = Renderer(
      layout: layout, filters: filters, busOrder: settings.busOrder, blockFrames: blockFrames,
      mode: isSpatial ? .spatial : .plain)
    isFolded = content == .stereo && layout != .stereo
    let treatment = Treatment(plain: layout)
    foldDown = MixMatrix(gains: treatment.headLocked, inputs: treatment.inputs)
    let rate = Int(filters.sampleRate)
    ears = LoudnessMeter(
      weights: [.main, .main], sampleRate: rate, measuresPeak: true, isEndless: isEndless)
    source = ChannelWeight.all(isFolded ? content : layout)
      .map { LoudnessMeter(weights: $0, sampleRate: rate, isEndless: isEndless) }
    rendered = PlanarScratch(channels: 2, frames: blockFrames)
    folded = PlanarScratch(channels: 2, frames: blockFrames)
  }

  /// Measures the next frames. `planes`: channels x frames.
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

  /// Resets the renderer, but keeps the measurements.
  func cut() { renderer.reset() }

  /// Returns the ungated loudness of the last `seconds` seconds (at most 3) at the ears, in LUFS;
  /// nil for silence or an empty window.
  func loudness(ofLast seconds: Double) -> Double? { ears.loudness(ofLast: seconds) }

  /// The gated measurement of all frames so far; nil if no 400 ms block has reached -70 LUFS at
  /// the ears.
  var measurement: LoudnessMeasurement? {
    guard let loudness = ears.integrated else { return nil }
    return LoudnessMeasurement(
      ears: loudness, source: source?.integrated, truePeak: ears.truePeak)
  }
}
