// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Media
private import SignalProcessing
private import Surround

/// A source whose channels change, as one whose channels do not: every run of frames is put on a bus
/// that stays the same, so that rendering goes on through the changes.
///
/// The change is at the exact frame. What was heard before goes on for 20 ms as its past predicts, while
/// it is faded out and the new run is faded in: nothing clicks, and no frame is added or lost. The bus is
/// the smallest layout that carries all of `expectedLayouts` as they are; what else comes is panned or
/// folded to it.
public final class ConstantBusSource: SoundSource {
  /// The bus.
  public let layout: ChannelLayout
  private let source: any SoundSource
  private let prepareRun: (any SoundSource) throws(PlaybackError) -> any SoundSource
  private let first: ChannelLayout
  private var way: Way?
  /// Where in the source content of another layout begins.
  private var marks: [(frame: Int, layout: ChannelLayout)]
  private var position = 0
  private var history: [[Float]]
  private var tail: [[Float]] = []
  private var tailPosition = 0
  private var ownWarnings: [String] = []

  private static let fadeSeconds = 0.02
  private static let historyFrames = 1024
  private static let blockFrames = 4096

  /// The way of a run, as it was prepared, to the bus.
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

  /// A run of one layout.
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

    /// Runs are read from their beginning.
    func seek(toFrame frame: Int) throws(PlaybackError) {}
  }

  /// - Parameters:
  ///   - source: one that `changesLayout`.
  ///   - prepareRun: what is done to each run by itself, such as stereo to more channels. What it
  ///     delays it makes up for, and it ends with the run. Default: nothing.
  public init(
    _ source: any SoundSource,
    prepareRun: @escaping (any SoundSource) throws(PlaybackError) -> any SoundSource = { $0 }
  ) throws(PlaybackError) {
    self.source = source
    self.prepareRun = prepareRun
    first = source.layout
    // What a stereo run is made into is to be carried as well.
    var layouts: [ChannelLayout] = []
    for expected in source.expectedLayouts {
      layouts.append(try prepareRun(Run(of: source, expected)).layout)
    }
    layout = LayoutBus.bus(for: layouts)
    marks = [(0, source.layout)]
    history = Array(repeating: [], count: layout.channelCount)
  }

  public var sampleRate: Int { source.sampleRate }
  public var duration: Int? { source.duration }
  public var title: String? { source.title }
  public var warnings: [String] { source.warnings + ownWarnings }
  public var isBinaural: Bool { source.isBinaural }
  public var matrixEncoding: MatrixEncoding? { source.matrixEncoding }
  public var multichannelOffer: String? { source.multichannelOffer }

  public func contentLayout(atFrame frame: Int) -> ChannelLayout {
    marks.last { $0.frame <= frame }?.layout ?? first
  }

  public func seek(toFrame frame: Int) throws(PlaybackError) {
    try source.seek(toFrame: frame)
    position = frame
    way = nil
    tail = []
    for c in history.indices { history[c].removeAll(keepingCapacity: true) }
    marks.removeAll { $0.frame > frame }
  }

  public func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    try readPieces(
      into: planes, channels: layout.channelCount, frames: frames, atMost: Self.blockFrames
    ) { (planes, wanted) throws(PlaybackError) in try readPiece(into: planes, wanted) }
  }

  private func readPiece(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, _ wanted: Int
  ) throws(PlaybackError) -> Int {
    while true {
      if way == nil {
        guard let next = try source.nextLayout() else { return 0 }
        try begin(next)
      }
      guard let way else { return 0 }
      let count = try way.source.read(into: way.input.planes, frames: wanted)
      if count == 0 {
        self.way = nil
        continue
      }
      way.matrix.mix(UnsafePointer(way.input.planes), into: UnsafePointer(planes), frames: count)
      fade(planes, count)
      remember(planes, count)
      position += count
      return count
    }
  }

  private func begin(_ next: ChannelLayout) throws(PlaybackError) {
    way = Way(from: try prepareRun(Run(of: source, next)), to: layout)
    if case .unknown = next { ownWarnings.append("\(next.name) without a name are not played") }
    guard contentLayout(atFrame: position) != next else { return }
    marks.removeAll { $0.frame >= position && position > 0 }
    marks.append((position, next))
    let fadeFrames = Int(Self.fadeSeconds * Double(sampleRate))
    tail = history.map { SignalExtension.after($0, frames: fadeFrames) }
    tailPosition = 0
  }

  /// From what the past predicts to what has come.
  private func fade(_ planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, _ count: Int) {
    guard let length = tail.first?.count, tailPosition < length else { return }
    let frames = min(count, length - tailPosition)
    for (c, past) in tail.enumerated() {
      for i in 0..<frames {
        let t = (Float(tailPosition + i) + 0.5) / Float(length)
        let share = t * t * t * (10 - 15 * t + 6 * t * t)
        let predicted = past[tailPosition + i]
        planes[c][i] = predicted + (planes[c][i] - predicted) * share
      }
    }
    tailPosition += frames
  }

  private func remember(
    _ planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, _ count: Int
  ) {
    let kept = min(count, Self.historyFrames)
    for c in history.indices {
      history[c] += UnsafeBufferPointer(start: planes[c] + count - kept, count: kept)
      history[c].removeFirst(max(0, history[c].count - Self.historyFrames))
    }
  }
}
