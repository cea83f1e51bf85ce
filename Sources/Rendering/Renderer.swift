// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Binaural
private import CRealtime
public import Geometry
public import SignalProcessing
internal import Surround

/// Renders the channels of a source to two ears for a moving head.
///
/// Apart from rounding, the output does not depend on how the frames are divided among the calls,
/// as long as gain, mode and decoder stay the same and no decoder output is muted.
///
/// ## Threading
/// One thread at a time may call `process`, which allocates nothing, takes no lock and never waits.
/// Any thread may use the gain, the mode, the levels and the counters.
public final class Renderer: @unchecked Sendable {
  /// How a source is rendered.
  public enum Mode: Int, Sendable, CaseIterable {
    /// Spatial sound for the head pose.
    case spatial
    /// Plain stereo, independent of the head pose.
    case plain
  }

  /// The output gain, fade-in and limiter.
  public struct Finish: Sendable {
    /// The linear gain of the output.
    public var gain: Float
    /// Whether the output fades in over 50 ms at the start and after a reset.
    public var isRamped: Bool
    /// Whether the true peak is limited to -1 dBTP.
    public var isLimited: Bool

    /// Gain 1, without fade-in or limiter.
    public static let linear = Finish(gain: 1, isRamped: false, isLimited: false)
    /// Gain 1, with fade-in and limiter.
    public static let safe = Finish(gain: 1, isRamped: true, isLimited: true)
    /// Gain 1, without fade-in but with limiter.
    public static let live = Finish(gain: 1, isRamped: false, isLimited: true)

    public init(gain: Float, isRamped: Bool, isLimited: Bool) {
      self.gain = gain
      self.isRamped = isRamped
      self.isLimited = isLimited
    }
  }

  /// The number of frames from one grid point to the next.
  public static let gridFrames = PoseGrid.cellFrames

  public let layout: ChannelLayout
  /// The sample rate of input and output, in Hz.
  public let sampleRate: Double
  /// The number of input channels.
  public let channels: Int
  /// The total delay of the limiter and the parametric decoder, in frames; 0 if neither is in use.
  public let latencyFrames: Int
  /// The number of output frames after the end of the input, not counting the latency. `exchange`
  /// may change this number. Read it on the rendering thread.
  public var tailFrames: Int { max(spatial.tailFrames, plain.tailFrames) }

  private let blockFrames: Int
  private let decoderLatency: Int
  private let grid = PoseGrid(longestCall: chunkFrames)
  let spatial: PathSwitch
  private let plain: PlainPath
  private let `guard`: FiniteGuard
  private let outputGuard: FiniteGuard
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

  /// Creates a renderer whose output cannot be rendered again.
  ///
  /// - Parameters:
  ///   - layout: the layout of the input channels; not `.unknown`.
  ///   - filters: filters of the order that `Treatment(spatial:busOrder:)` has for this layout, or
  ///     direct filters for a loudspeaker layout.
  ///   - busOrder: the order of the soundfield that loudspeaker channels are encoded into.
  ///   - blockFrames: the usual number of frames per call.
  ///   - mode: the mode at the start.
  ///   - finish: gain, fade-in and limiter.
  public convenience init(
    layout: ChannelLayout, filters: BinauralFilters, busOrder: Int, blockFrames: Int = 256,
    mode: Mode = .spatial, finish: Finish = .linear
  ) {
    self.init(
      layout: layout, filters: filters, busOrder: busOrder, blockFrames: blockFrames, mode: mode,
      finish: finish, rewritableSeconds: 0)
  }

  /// Creates a renderer that can keep its latest output for rewriting.
  ///
  /// - Parameters:
  ///   - rewritableSeconds: the duration of the output to keep; 0 for none. Without a limiter in
  ///     `finish`, nothing is kept.
  ///   - policy: the rules for rewriting.
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
    outputGuard = FiniteGuard(
      channelCount: isKept ? 4 : 2, sampleRate: rate, bound: largestDecodedSample)
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
    // Both modes start at their target gains. The output gain fades in if `isRamped` is set.
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

  /// Replaces the decoder during playback.
  ///
  /// The new decoder runs inaudibly until its filters contain past input. It is then faded in over
  /// 0.2 s. Do not call this function on the audio thread, because it allocates memory.
  ///
  /// - Parameters:
  ///   - filters: filters for the layout and sample rate of the renderer.
  ///   - busOrder: the order of the soundfield that loudspeaker channels are encoded into.
  /// - Returns: false, without any change, if the new decoder has a different latency; otherwise
  ///   true.
  @discardableResult
  public func exchange(filters: BinauralFilters, busOrder: Int) -> Bool {
    precondition(filters.sampleRate == sampleRate, "the filters must be for \(sampleRate) Hz")
    let path = Renderer.path(layout, filters, busOrder, blockFrames, keptFrames: history.capacity)
    guard path.latencyFrames == decoderLatency else { return false }
    spatial.offer(path)
    return true
  }

  /// Whether an exchange is in progress. An exchange advances only while sound is rendered.
  public var isExchanging: Bool { spatial.isSwitching }

  /// Frees the decoders that exchanges have replaced. Do not call it on the audio thread.
  package func collectRetired() { spatial.collect() }

  /// How the source is rendered. A change is crossfaded over 50 ms.
  public var mode: Mode {
    get { plainGain.targetGain > 0 ? .plain : .spatial }
    set {
      spatialGain.targetGain = newValue == .spatial ? 1 : 0
      plainGain.targetGain = newValue == .plain ? 1 : 0
    }
  }

  /// The linear gain of the output. After a change, the gain fades to the new value over 50 ms.
  public var gain: Float {
    get { outputGain.targetGain }
    set { outputGain.targetGain = newValue }
  }

  /// Whether the output gain and its target are zero.
  var isSilenced: Bool { outputGain.isSilent }

  /// Returns the linear peak and RMS levels of both output channels since the last call.
  public func levels() -> LevelMeter.Levels { meter.read() }

  /// The number of frames that were muted because of invalid samples.
  public var mutedFrameCount: Int {
    `guard`.badFrameCount + outputGuard.badFrameCount + rewriter.mutedFrameCount
  }

  /// Returns the grid points for which the next call of `process` needs head poses. Grid point `n`
  /// is at frame `16 * n`.
  @_noLocks
  public func gridPoints(forNext frames: Int) -> Range<Int> {
    grid.points(forNext: frames)
  }

  /// Clears the filters, the limiter and the history. The grid starts again at point 0. If
  /// `Finish.isRamped` is set, the output fades in again. Call this function on the rendering
  /// thread.
  public func reset() {
    grid.reset()
    spatial.reset()
    plain.reset()
    `guard`.reset()
    outputGuard.reset()
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
  ///   - frames: the number of frames.
  ///   - poses: the head poses, one for each point of `gridPoints(forNext: frames)`.
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
    // With a history, `ears` also carries a copy of the part that is rotated (planes 2
    // and 3) and the gain applied to it (plane 4).
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
      // Old sound in the delay line must not be heard when plain stereo becomes audible again.
      plain.reset()
    }
    muteInvalid(count)
    outputGain.process(ears.planes, channelCount: planes, frames: count)
    if isKept {
      finishKept(count)
    } else if finish.isLimited {
      limiter.process(ears.planes[0], ears.planes[1], frames: count)
    }
    meter.process(ears.planes[0], ears.planes[1], frames: count)
  }

  /// Mutes invalid frames, and resets the decoder if there are any.
  @_noLocks
  private func muteInvalid(_ count: Int) {
    let before = outputGuard.badFrameCount
    outputGuard.process(ears.planes, frames: count)
    if outputGuard.badFrameCount != before { spatial.reset() }
  }

  /// Limits the output, and appends the frames to the history.
  @_noLocks
  private func finishKept(_ count: Int) {
    let first = history.end
    for c in 0..<channels { history.storeSource(c, at: first, source.planes[c], count) }
    history.store(.gain, at: first, ears.planes[4], count)
    history.store(.sumLeft, at: first, ears.planes[0], count)
    history.store(.sumRight, at: first, ears.planes[1], count)
    for ear in 0..<2 {
      // The part that is not rotated is the sum minus the rotated part.
      let (sum, turned) = (ears.planes[ear], ears.planes[2 + ear])
      for i in 0..<count { turned[i] = sum[i] - turned[i] }
    }
    history.store(.stillLeft, at: first, ears.planes[2], count)
    history.store(.stillRight, at: first, ears.planes[3], count)
    // Limit, and save the limiter's state at every multiple of `stateFrames`.
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

/// The largest magnitude of decoder output that is not muted.
var largestDecodedSample: Float { @_noLocks get { 1e8 } }

/// The largest number of frames that `Renderer` processes at once.
var chunkFrames: Int { @_noLocks get { 1024 } }
