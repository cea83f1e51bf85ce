// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Binaural
private import CRealtime
public import Geometry
public import SignalProcessing
internal import Surround

/// Turns the channels of a source into what two ears hear, for a head that moves.
///
/// This is the one engine of `play` and `render`: guard against numbers that are no sound,
/// treatment of the layout, rotation, binaural decoding, gain, limiter. The output of a frame
/// depends neither on the size of the calls nor on their number (below -120 dB).
///
/// ## Threading
/// `process` belongs to one thread at a time; it allocates nothing, takes no lock and never
/// waits. The gains, the mode and the counters may be used from any thread.
public final class Renderer: @unchecked Sendable {
  /// What of the source is heard.
  public enum Mode: Int, Sendable, CaseIterable {
    /// The soundfield, turned against the head and decoded.
    case spatial
    /// Plain stereo, past the head.
    case plain
  }

  /// How the output is finished.
  public struct Finish: Sendable {
    /// Linear gain.
    public var gain: Float
    /// Whether every start and change of gain takes 50 ms.
    public var isRamped: Bool
    /// Whether the true peak is kept at -1 dBTP or below.
    public var isLimited: Bool

    /// For a file: linear from the first frame.
    public static let linear = Finish(gain: 1, isRamped: false, isLimited: false)
    /// For ears: never louder than -1 dBTP, never a jump.
    public static let safe = Finish(gain: 1, isRamped: true, isLimited: true)

    public init(gain: Float, isRamped: Bool, isLimited: Bool) {
      self.gain = gain
      self.isRamped = isRamped
      self.isLimited = isLimited
    }
  }

  /// Frames between two points of the grid on which head poses are taken.
  public static let gridFrames = PoseGrid.cellFrames

  public let layout: ChannelLayout
  /// Hz.
  public let sampleRate: Double
  /// Channels of the input.
  public let channels: Int
  /// Frames by which the limiter and a decoder that analyses the sound delay the output; 0 without.
  public let latencyFrames: Int
  /// Frames that the output goes on after the input has ended; `exchange` may change it. For the
  /// thread that renders.
  public var tailFrames: Int { max(spatial.tailFrames, plain.tailFrames) }

  private let blockFrames: Int
  private let decoderLatency: Int
  private let grid = PoseGrid(longestCall: chunkFrames)
  let spatial: PathSwitch
  private let plain: PlainPath
  private let `guard`: FiniteGuard
  private let spatialGain: GainRamp
  private let plainGain: GainRamp
  private let outputGain: GainRamp
  private let finish: Finish
  private let limiter: TruePeakLimiter
  private let meter = LevelMeter()
  private let source: PlanarScratch
  private let ears: PlanarScratch
  private let side: PlanarScratch
  let history: RenderHistory
  let rewriter: QueueRewriter

  /// - Parameters:
  ///   - layout: what the input's channels are; not `.unknown`.
  ///   - filters: of the order that `Treatment(spatial:busOrder:)` has for the layout.
  ///   - busOrder: order of the soundfield that speakers are encoded to.
  ///   - blockFrames: how many frames a call usually has; it sets the cost, not the sound.
  ///   - mode: what is heard at the start.
  ///   - finish: gain, ramp and limiter.
  public convenience init(
    layout: ChannelLayout, filters: BinauralFilters, busOrder: Int, blockFrames: Int = 256,
    mode: Mode = .spatial, finish: Finish = .linear
  ) {
    self.init(
      layout: layout, filters: filters, busOrder: busOrder, blockFrames: blockFrames, mode: mode,
      finish: finish, rewritableSeconds: 0)
  }

  /// - Parameter rewritableSeconds: how much of what was rendered last can be rendered again for a
  ///   head that moved otherwise; 0 for nothing. Only where the finish is limited.
  package init(
    layout: ChannelLayout, filters: BinauralFilters, busOrder: Int, blockFrames: Int, mode: Mode,
    finish: Finish, rewritableSeconds: Double, policy: RewritePolicy = RewritePolicy()
  ) {
    let rate = filters.sampleRate
    self.layout = layout
    self.finish = finish
    sampleRate = rate
    channels = layout.channelCount
    self.blockFrames = blockFrames
    let isKept = finish.isLimited && rewritableSeconds > 0
    let keptFrames =
      isKept ? Int((rewritableSeconds + policy.longestRunUpSeconds) * rate) : 0
    spatial = PathSwitch(
      Renderer.path(layout, filters, busOrder, blockFrames, keptFrames: keptFrames),
      sampleRate: rate, chunkFrames: chunkFrames)
    decoderLatency = spatial.latencyFrames
    plain = PlainPath(
      treatment: Treatment(plain: layout), sampleRate: rate, latencyFrames: decoderLatency)
    `guard` = FiniteGuard(channelCount: channels, sampleRate: rate)
    spatialGain = GainRamp(sampleRate: rate, targetGain: mode == .spatial ? 1 : 0)
    plainGain = GainRamp(sampleRate: rate, targetGain: mode == .plain ? 1 : 0)
    outputGain = GainRamp(sampleRate: rate, targetGain: finish.gain)
    limiter = TruePeakLimiter(sampleRate: rate)
    latencyFrames = decoderLatency + (finish.isLimited ? limiter.latencyFrames : 0)
    source = PlanarScratch(channels: channels, frames: chunkFrames)
    ears = PlanarScratch(channels: isKept ? 5 : 2, frames: chunkFrames)
    side = PlanarScratch(channels: 2, frames: chunkFrames)
    history = RenderHistory(
      channels: channels, frames: keptFrames, stateBytes: limiter.stateByteCount)
    rewriter = QueueRewriter(channels: channels, sampleRate: rate, policy: policy)
    // The modes stand where they are; only the output rises from silence.
    spatialGain.settle()
    plainGain.settle()
    if !finish.isRamped { outputGain.settle() }
  }

  private static func path(
    _ layout: ChannelLayout, _ filters: BinauralFilters, _ busOrder: Int, _ blockFrames: Int,
    keptFrames: Int
  ) -> SpatialPath {
    SpatialPath(
      treatment: Treatment(spatial: layout, busOrder: busOrder), filters: filters,
      partition: BinauralDecoder.partition(forBlock: blockFrames), chunkFrames: chunkFrames,
      keptFrames: keptFrames)
  }

  /// Changes the decoder while sound goes on: to another HRTF set, order or design. The new one is
  /// filled with the past unheard and then faded in within 0.2 s.
  ///
  /// For any thread but the audio thread: it allocates, and frees what an earlier exchange has
  /// left.
  ///
  /// - Parameters:
  ///   - filters: of the renderer's rate and of the order that `Treatment(spatial:busOrder:)` has
  ///     for the layout.
  ///   - busOrder: order of the soundfield that speakers are encoded to.
  /// - Returns: false where the new decoder is later than the old one and nothing is changed: one
  ///   that analyses the sound and one that does not cannot follow each other without a gap.
  @discardableResult
  public func exchange(filters: BinauralFilters, busOrder: Int) -> Bool {
    precondition(filters.sampleRate == sampleRate, "filters for \(sampleRate) Hz wanted")
    let path = Renderer.path(layout, filters, busOrder, blockFrames, keptFrames: history.capacity)
    guard path.latencyFrames == decoderLatency else { return false }
    spatial.offer(path)
    return true
  }

  /// True from `exchange` until only the new decoder is heard; sound must be rendered for that.
  public var isExchanging: Bool { spatial.isSwitching }

  /// Frees what exchanges have left behind; not for the audio thread.
  package func collectRetired() { spatial.collect() }

  /// Which of the source is heard; a change is a crossfade of 50 ms.
  public var mode: Mode {
    get { plainGain.targetGain > 0 ? .plain : .spatial }
    set {
      spatialGain.targetGain = newValue == .spatial ? 1 : 0
      plainGain.targetGain = newValue == .plain ? 1 : 0
    }
  }

  /// Linear gain of the output; a change takes 50 ms. Not for a linear finish.
  public var gain: Float {
    get { outputGain.targetGain }
    set { outputGain.targetGain = newValue }
  }

  /// True when the gain is zero and stays so: what is rendered is not heard.
  var isSilenced: Bool { outputGain.isSilent }

  /// Peak and rms at the output since the last look.
  public func levels() -> LevelMeter.Levels { meter.read() }

  /// Frames that held a number that is no sound and were muted.
  public var mutedFrameCount: Int { `guard`.badFrameCount }

  /// The grid points whose head poses the next `frames` frames need: point g is at frame 16 g.
  @_noLocks
  public func gridPoints(forNext frames: Int) -> Range<Int> {
    grid.points(forNext: frames)
  }

  /// Forgets what has been played, as after a seek; the grid starts again at point 0.
  public func reset() {
    grid.reset()
    spatial.reset()
    plain.reset()
    `guard`.reset()
    limiter.reset()
    history.reset()
    spatialGain.settle()
    plainGain.settle()
    outputGain.restart()
    if !finish.isRamped { outputGain.settle() }
  }

  /// Renders the next frames.
  ///
  /// - Parameters:
  ///   - input: channels x frames; nil for silence.
  ///   - frames: any number.
  ///   - poses: head poses `headToWorld` for `gridPoints(forNext: frames)`.
  ///   - left: receives `frames` samples.
  ///   - right: receives `frames` samples.
  @_noLocks
  public func process(
    input: UnsafePointer<UnsafeMutablePointer<Float>>?, frames: Int,
    poses: UnsafePointer<Quaternion>, left: UnsafeMutablePointer<Float>,
    right: UnsafeMutablePointer<Float>
  ) {
    realtime_enter()
    var (done, used) = (0, 0)
    while done < frames {
      let count = min(chunkFrames, frames - done)
      load(input, at: done, count)
      let needed = grid.points(forNext: count).count
      renderChunk(count, grid.take(poses + used, forNext: count))
      copyFrames(ears.planes[0], left + done, count)
      copyFrames(ears.planes[1], right + done, count)
      used += needed
      done += count
    }
    realtime_exit()
  }

  @_noLocks
  private func load(
    _ input: UnsafePointer<UnsafeMutablePointer<Float>>?, at offset: Int, _ count: Int
  ) {
    for c in 0..<channels {
      if let input {
        copyFrames(input[c] + offset, source.planes[c], count)
      } else {
        clearFrames(source.planes[c], count)
      }
    }
  }

  @_noLocks
  private func renderChunk(_ count: Int, _ poses: GridPoses) {
    `guard`.process(source.planes, frames: count)
    let isKept = history.isKept
    let isPlainHeard = plainGain.isAudible
    if isPlainHeard { plain.process(source.planes, into: side.planes, frames: count) }
    // With what turns alone and with the gain beside them, where these are kept.
    let planes = isKept ? 5 : 2
    if isKept { for i in 0..<count { ears.planes[4][i] = 1 } }
    spatial.process(
      source.planes, poses: poses, into: ears.planes,
      turned: isKept ? UnsafePointer(ears.planes + 2) : nil,
      plain: isPlainHeard ? UnsafePointer(side.planes) : nil, frames: count)
    spatialGain.process(ears.planes, channelCount: planes, frames: count)
    if isPlainHeard {
      plainGain.process(side.planes, channelCount: 2, frames: count)
      addFrames(side.planes[0], to: ears.planes[0], count)
      addFrames(side.planes[1], to: ears.planes[1], count)
    } else {
      // What it heard last must not come out when it is heard again.
      plain.reset()
    }
    outputGain.process(ears.planes, channelCount: planes, frames: count)
    if isKept {
      finishKept(count)
    } else if finish.isLimited {
      limiter.process(ears.planes[0], ears.planes[1], frames: count)
    }
    meter.process(ears.planes[0], ears.planes[1], frames: count)
  }

  /// Limits, and keeps all that it takes to render the same again.
  @_noLocks
  private func finishKept(_ count: Int) {
    let first = history.end
    for c in 0..<channels { history.storeSource(c, at: first, source.planes[c], count) }
    history.store(.gain, at: first, ears.planes[4], count)
    history.store(.sumLeft, at: first, ears.planes[0], count)
    history.store(.sumRight, at: first, ears.planes[1], count)
    for ear in 0..<2 {
      let (sum, turned) = (ears.planes[ear], ears.planes[2 + ear])
      for i in 0..<count { turned[i] = sum[i] - turned[i] }
    }
    history.store(.stillLeft, at: first, ears.planes[2], count)
    history.store(.stillRight, at: first, ears.planes[3], count)
    var done = 0
    while done < count {
      let phase = (first + done) % RenderHistory.stateFrames
      if phase == 0 { limiter.saveState(into: history.limiterState(before: first + done)) }
      let part = min(RenderHistory.stateFrames - phase, count - done)
      limiter.process(ears.planes[0] + done, ears.planes[1] + done, frames: part)
      done += part
    }
    history.store(.outputLeft, at: first, ears.planes[0], count)
    history.store(.outputRight, at: first, ears.planes[1], count)
    history.append(count, decoder: spatial.heard)
  }
}

/// The most frames that are rendered at a time, by all who do.
var chunkFrames: Int { @_noLocks get { 1024 } }
