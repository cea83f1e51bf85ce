// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Media
public import Rendering
private import SignalProcessing
private import Surround

/// A source with a constant layout, the bus, that reads from a source whose layout changes.
///
/// `LayoutBus` determines the bus and the gains that mix each run to it. Overlapping runs are
/// crossfaded. A gap of up to 20 ms is bridged by a prediction from the earlier run, which is then
/// crossfaded with the new run over 20 to 180 ms. In a longer gap, the prediction is faded out, and
/// the new run is faded in after the gap.
public final class ConstantBusSource: SoundSource {
  /// The layout of the bus.
  public let layout: ChannelLayout
  private let source: any SoundSource
  private let prepareRun: (any SoundSource) throws(PlaybackError) -> any SoundSource
  private let first: ChannelLayout
  private var way: Way?
  /// The layouts of the content and the frames at which they begin, in increasing order.
  private var marks: [(frame: Int, layout: ChannelLayout)]
  /// Frames on the bus that have not been read. Until the source ends, the last `longestOverlap`
  /// frames are held back for an overlap with the next run.
  private var line: SoundLine
  /// The number of the first frame after `line`, counted in the source.
  private var position = 0
  private var hasEnded = false
  /// The error that ended reading; nil if there is none. It is thrown after the frames in `line`
  /// have been read.
  private var failure: PlaybackError?
  private var join: RunJoin
  private let mixed: PlanarScratch
  private var ownWarnings: [String] = []

  private static let blockFrames = 4096
  /// The largest number of frames to read at once outside an overlap.
  private static let stepFrames = 1024

  /// A prepared run and the gains that mix it to the bus.
  private final class Way {
    let source: any SoundSource
    let matrix: MixMatrix
    let input: PlanarScratch

    init(from source: any SoundSource, to bus: ChannelLayout) {
      self.source = source
      let inputs = source.layout.channelCount
      matrix = MixMatrix(gains: LayoutBus.gains(from: source.layout, to: bus), inputs: inputs)
      input = PlanarScratch(channels: inputs, frames: ConstantBusSource.blockFrames)
    }
  }

  /// A run of the source, with a single layout.
  private final class Run: SoundSource {
    let layout: ChannelLayout
    let sampleRate: Int
    let duration: Int? = nil
    let title: String? = nil
    let warnings: [String] = []
    let matrixEncoding: MatrixEncoding?
    let isBinaural: Bool
    private let source: any SoundSource

    init(of source: any SoundSource, _ layout: ChannelLayout) {
      (self.source, self.layout, sampleRate) = (source, layout, source.sampleRate)
      isBinaural = layout == .stereo && source.isBinaural
      matrixEncoding = layout == .stereo ? source.matrixEncoding : nil
    }

    func read(
      into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
    ) throws(PlaybackError) -> Int { try source.read(into: planes, frames: frames) }

    func seek(toFrame frame: Int) throws(PlaybackError) {}
  }

  /// Creates a source that converts every run to one bus.
  ///
  /// - Parameters:
  ///   - source: a source whose `changesLayout` is true.
  ///   - prepareRun: returns a source that processes a run. That source must compensate for its own
  ///     latency and end with the run. The initialiser calls `prepareRun` once for each expected
  ///     layout, without reading. Default: no processing.
  /// - Throws: any error from `prepareRun`.
  public init(
    _ source: any SoundSource,
    prepareRun: @escaping (any SoundSource) throws(PlaybackError) -> any SoundSource = { $0 }
  ) throws(PlaybackError) {
    self.source = source
    self.prepareRun = prepareRun
    first = source.layout
    // The bus depends on the layouts after `prepareRun`, which can upmix a run, for example.
    var layouts: [ChannelLayout] = []
    for expected in source.expectedLayouts {
      layouts.append(try prepareRun(Run(of: source, expected)).layout)
    }
    layout = LayoutBus.bus(for: layouts)
    marks = [(0, source.layout)]
    line = SoundLine(channels: layout.channelCount)
    join = RunJoin(channels: layout.channelCount, sampleRate: source.sampleRate)
    mixed = PlanarScratch(channels: layout.channelCount, frames: Self.blockFrames)
  }

  public var sampleRate: Int { source.sampleRate }
  public var duration: Int? { source.duration }
  public var title: String? { source.title }
  public var warnings: [String] { source.warnings + ownWarnings }
  public var isBinaural: Bool { source.isBinaural }
  public var matrixEncoding: MatrixEncoding? { source.matrixEncoding }
  public var multichannelOffer: MultichannelOffer? { source.multichannelOffer }
  public var stream: (any StreamedSource)? { source.stream }

  public func contentLayout(atFrame frame: Int) -> ChannelLayout {
    marks.last { $0.frame <= frame }?.layout ?? first
  }

  public func seek(toFrame frame: Int) throws(PlaybackError) {
    try source.seek(toFrame: frame)
    position = frame
    way = nil
    hasEnded = false
    failure = nil
    line.removeAll()
    join.forget()
    marks.removeAll { $0.frame > frame }
  }

  public func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    try readPieces(
      into: planes, channels: layout.channelCount, frames: frames, atMost: Self.blockFrames
    ) { (planes, wanted) throws(PlaybackError) in
      while !hasEnded, line.count <= source.longestOverlap { extendOrEnd() }
      if let failure, line.count == 0 { throw failure }
      let count = min(wanted, hasEnded ? line.count : line.count - source.longestOverlap)
      line.copy(count, into: planes)
      line.removeFirst(count)
      return count
    }
  }

  /// Extends the line, or ends it with a fade-out if the source fails.
  private func extendOrEnd() {
    do throws(PlaybackError) { try extend() } catch {
      failure = error
      hasEnded = true
      if line.count > 0 { position += join.bridge(2 * sampleRate / 50, on: &line) }
    }
  }

  private func extend() throws(PlaybackError) {
    guard way != nil else {
      if let next = try source.nextLayout() { try begin(next) } else { hasEnded = true }
      return
    }
    let count = try readRun(Self.stepFrames)
    guard count > 0 else {
      way = nil
      return
    }
    join.fade(mixed.planes, count)
    line.append(UnsafePointer(mixed.planes), frames: count)
    join.remember(mixed.planes, count)
    position += count
  }

  /// Reads frames of the current run into `mixed`. Returns their number; 0 at the end of the run.
  private func readRun(_ frames: Int) throws(PlaybackError) -> Int {
    guard let way else { return 0 }
    let count = try way.source.read(into: way.input.planes, frames: frames)
    way.matrix.mix(
      UnsafePointer(way.input.planes), into: UnsafePointer(mixed.planes), frames: count)
    return count
  }

  private func begin(_ next: ChannelLayout) throws(PlaybackError) {
    let joint = source.joint
    way = Way(from: try prepareRun(Run(of: source, next)), to: layout)
    if case .unknown = next {
      ownWarnings.append("a part with \(next.name) of unknown layout is not played")
    }
    let isOther = contentLayout(atFrame: position) != next
    if joint > 0 {
      try overlap(joint)
    } else if joint < 0 || isOther || source.longestOverlap > 0 {
      position += join.bridge(-joint, on: &line)
    }
    guard isOther else { return }
    marks.removeAll { $0.frame >= position && position > 0 }
    marks.append((position, next))
  }

  /// Crossfades into a new run that begins `frames` frames before the end of the line. If the run
  /// is shorter than `frames`, the line then ends with the run.
  private func overlap(_ frames: Int) throws(PlaybackError) {
    // Skip the first `lead` frames of the run, which precede the first frame of the line.
    let shared = min(frames, line.count)
    var (lead, new) = (frames - shared, SoundLine(channels: layout.channelCount))
    while lead > 0 || new.count < shared {
      let count = try readRun(min(Self.blockFrames, lead > 0 ? lead : shared - new.count))
      if count == 0 { break }
      if lead > 0 { lead -= count } else { new.append(UnsafePointer(mixed.planes), frames: count) }
    }
    if shared == 0 { position += join.bridge(0, on: &line) }
    position -= join.crossfade(new, into: &line, over: shared)
  }
}
