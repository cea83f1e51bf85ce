// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
private import CRealtime
private import Geometry
private import SignalProcessing

/// Decodes a first-order soundfield to two ears. In each band, the soundfield is divided into two
/// plane waves and a residual (`ParametricFrame`).
///
/// Analysis frames overlap by half and are multiplied by a Hann window. In each band, a `WaveModel`
/// is fitted to the covariance of the channels, averaged with a time constant of 20 ms. Two beams
/// extract the waves, which are filtered by the ears' responses to their directions. The linear
/// decoder renders the residual. Directions are determined on the stage and rotated by the inverse
/// of the pose at the middle of the analysis frame. The output does not depend on the number of
/// frames per call.
///
/// ## Threading
/// One caller at a time. `process` does not allocate, lock or wait.
public struct ParametricDecoder: ~Copyable, @unchecked Sendable {
  /// The time constant with which covariances are averaged, in s.
  static let memory = 0.020

  /// The additional delay relative to `BinauralDecoder`, in frames.
  public let latencyFrames: Int
  /// The number of output frames after the end of the input, not counting the latency.
  public let tailFrames: Int

  private let hop: Int
  private let size: Int
  private let synthesis: ParametricFrame
  private let fft: RealFFT
  private let earFFT: RealFFT
  private let window: AlignedFloats
  /// The latest analysis frame of the input: samples x 4 channels.
  private let history: AlignedFloats
  private let time: AlignedFloats
  private let real: AlignedFloats
  private let imaginary: AlignedFloats
  private let earTime: AlignedFloats
  private let earReal: AlignedFloats
  private let earImaginary: AlignedFloats
  /// The sum of the overlapping outputs of the analysis frames so far, from the start of the
  /// current hop on: size x 2 ears. A hop is half an analysis frame.
  private let sums: AlignedFloats
  private let poses: UnsafeMutablePointer<Quaternion>
  private let poseCount: Int
  private let state: UnsafeMutablePointer<State>
  /// The stored covariances. Slot 0 holds the covariances with which the decoder resumes. The other
  /// slots are a ring: one slot for the covariances after each of the latest analysis frames.
  private let memories: UnsafeMutablePointer<SIMD4<Float>>
  private let memoryCount: Int

  private struct State {
    /// The stream frame after the last decoded frame; -1 before the first call and after `reset`.
    var next = -1
    /// The stream frame at which slot 0 replaces the current covariances; 0 if the decoder does not
    /// resume.
    var resumption = 0

    @_noLocks init() {}
  }

  /// Creates a decoder.
  ///
  /// - Parameters:
  ///   - filters: the linear decoder, of first order.
  ///   - waves: the responses to plane waves, for the same sample rate as `filters`.
  ///   - keptFrames: the number of past frames for which covariances are kept, so that another
  ///     decoder can resume at one of these frames; 0 for none.
  public init(filters: BinauralFilters, waves: PlaneWaveResponses, keptFrames: Int = 0) {
    precondition(filters.order == 1, "the parametric decoder requires first-order filters")
    precondition(filters.sampleRate == waves.sampleRate)
    latencyFrames = waves.frame
    size = waves.size
    // The output of the analysis frame that begins with the last input sample has this length.
    tailFrames = size
    hop = waves.frame / 2
    let memory = Double(hop) / (waves.sampleRate * Self.memory)
    synthesis = ParametricFrame(
      filters: filters, waves: waves, forgetting: Float(realtime_exp(-memory)))
    fft = RealFFT(size: size, batch: 4)
    earFFT = RealFFT(size: size, batch: 2)
    window = AlignedFloats(count: waves.frame)
    for n in 0..<waves.frame {
      let angle = 2 * Double.pi * Double(n) / Double(waves.frame)
      window.pointer[n] = Float(0.5 - 0.5 * realtime_cos(angle))
    }
    history = AlignedFloats(count: waves.frame * 4)
    time = AlignedFloats(count: size * 4)
    real = AlignedFloats(count: fft.bins * 4)
    imaginary = AlignedFloats(count: fft.bins * 4)
    earTime = AlignedFloats(count: size * 2)
    earReal = AlignedFloats(count: fft.bins * 2)
    earImaginary = AlignedFloats(count: fft.bins * 2)
    sums = AlignedFloats(count: size * 2)
    poseCount = waves.frame / PoseGrid.cellFrames + 2
    poses = .allocate(capacity: poseCount)
    poses.initialize(repeating: .identity, count: poseCount)
    state = .allocate(capacity: 1)
    state.initialize(to: State())
    memoryCount = keptFrames > 0 ? keptFrames / hop + 2 : 0
    let vectors = (memoryCount + 1) * synthesis.memoryCount
    memories = .allocate(capacity: vectors)
    memories.initialize(repeating: .zero, count: vectors)
  }

  deinit {
    memories.deallocate()
    poses.deallocate()
    state.deallocate()
  }

  /// Clears all state except the stored covariances. Afterwards, the stream may continue at any
  /// frame.
  @_noLocks
  public func reset() {
    state.pointee = State()
    history.clear()
    sums.clear()
    synthesis.reset()
  }

  /// The number of frames from one analysis frame to the next. A decoder can resume at multiples of
  /// this number. The first output frame that depends on a pose is this many frames after the frame
  /// of the pose.
  public var hopFrames: Int { @_noLocks get { hop } }

  /// Returns the covariances that another decoder with the same filters needs to resume at a frame;
  /// nil if none are kept. They stay valid until this decoder is more than `keptFrames` frames past
  /// `frame`.
  ///
  /// - Parameter frame: a stream frame; a multiple of `hopFrames`. It must be `hopFrames` to
  ///   `keptFrames` frames before the next frame that this decoder decodes.
  @_noLocks
  public func memory(toBeginAt frame: Int) -> UnsafePointer<SIMD4<Float>>? {
    if memoryCount == 0 { return nil }
    // In the other decoder, the analysis frame that ends one hop after `frame` lacks its first
    // half. The covariances after that analysis frame are therefore needed.
    let slot = 1 + (frame + hop) / hop % memoryCount
    return UnsafePointer(memories + slot * synthesis.memoryCount)
  }

  /// Resets this decoder so that it resumes at a frame that another decoder has passed.
  ///
  /// For the same input and poses, the output equals that of the other decoder from frame
  /// `frame + hopFrames + tailFrames` on.
  ///
  /// - Parameters:
  ///   - frame: a stream frame; a multiple of `hopFrames`.
  ///   - memory: the result of `memory(toBeginAt:)` for this frame.
  @_noLocks
  public func beginAgain(at frame: Int, memory: UnsafePointer<SIMD4<Float>>) {
    reset()
    for i in 0..<synthesis.memoryCount { memories[i] = memory[i] }
    state.pointee.resumption = frame + hop
  }

  @_noLocks
  private func keepMemory(at frame: Int) {
    if frame == state.pointee.resumption { synthesis.restoreMemory(from: memories) }
    if memoryCount == 0 { return }
    let slot = 1 + frame / hop % memoryCount
    synthesis.saveMemory(into: memories + slot * synthesis.memoryCount)
  }

  /// Decodes the frames of the stream from `poses.frame` on.
  ///
  /// If these frames do not follow those of the previous call, and at the first call, the first of
  /// the given poses also replaces all earlier poses.
  ///
  /// - Parameters:
  ///   - input: 4 x frames, in ACN order and SN3D scale.
  ///   - frames: the number of frames to decode.
  ///   - poses: the head poses for these frames.
  ///   - left: receives `frames` samples.
  ///   - right: receives `frames` samples.
  @_noLocks
  public func process(
    input: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int, poses given: GridPoses,
    left: UnsafeMutablePointer<Float>, right: UnsafeMutablePointer<Float>
  ) {
    var (done, given) = (0, given)
    if given.frame != state.pointee.next {
      for i in 0..<poseCount { poses[i] = given.poses[0] }
    }
    while done < frames {
      let offset = given.frame % hop
      let count = min(hop - offset, frames - done)
      keepPoses(given, forNext: count)
      let start = history.pointer + (hop + offset) * 4
      for c in 0..<4 {
        let source = input[c] + done
        for i in 0..<count { start[4 * i + c] = source[i] }
      }
      for i in 0..<count {
        left[done + i] = sums.pointer[2 * (offset + i)]
        right[done + i] = sums.pointer[2 * (offset + i) + 1]
      }
      done += count
      given.advance(by: count)
      if offset + count == hop {
        renderFrame(at: given.frame)
        keepMemory(at: given.frame)
      }
    }
    state.pointee.next = given.frame
  }

  @_noLocks
  private func keepPoses(_ given: GridPoses, forNext count: Int) {
    let first = given.frame / PoseGrid.cellFrames
    let last = (given.frame + count - 1) / PoseGrid.cellFrames + 1
    for point in first...last { poses[point % poseCount] = given.poses[point - first] }
  }

  /// Renders the analysis frame that ends at `end`, advances `sums` by a hop and adds the output.
  /// Then moves the second half of `history` to the first half.
  @_noLocks
  private func renderFrame(at end: Int) {
    let frame = 2 * hop
    for n in 0..<frame {
      let gain = window.pointer[n]
      for c in 0..<4 { time.pointer[4 * n + c] = history.pointer[4 * n + c] * gain }
    }
    for i in (4 * frame)..<(4 * size) { time.pointer[i] = 0 }
    fft.forward(time.pointer, real: real.pointer, imaginary: imaginary.pointer)
    synthesis.render(
      real: real.pointer, imaginary: imaginary.pointer, pose: middlePose(of: end),
      earReal: earReal.pointer, earImaginary: earImaginary.pointer)
    earFFT.inverse(
      real: earReal.pointer, imaginary: earImaginary.pointer, time: earTime.pointer)
    let kept = 2 * (size - hop)
    for i in 0..<kept { sums.pointer[i] = sums.pointer[i + 2 * hop] + earTime.pointer[i] }
    for i in kept..<(2 * size) { sums.pointer[i] = earTime.pointer[i] }
    for i in 0..<(4 * hop) { history.pointer[i] = history.pointer[i + 4 * hop] }
  }

  /// Returns the pose at the middle of the analysis frame that ends at `end`.
  @_noLocks
  private func middlePose(of end: Int) -> Quaternion {
    let point = max(0, (end - hop) / PoseGrid.cellFrames)
    return poses[point % poseCount]
  }
}
