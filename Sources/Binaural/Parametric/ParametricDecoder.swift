// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
private import CRealtime
private import Geometry
private import SignalProcessing

/// Decodes a first-order soundfield as two plane waves a band and what remains.
///
/// Frames of Hann shape, one every half frame, are transformed; in each band the model of
/// `WaveModel` is fitted to a covariance that forgets in 20 ms; two beams take the waves out, which
/// are given the ears' responses to their directions; the rest goes through the linear decoder.
/// `ParametricFrame` tells how. Directions are found in the room and turned against the head
/// afterwards, by the pose at the frame's middle. All frames lie on a grid of their own in stream
/// time, so that the output does not depend on the size of the calls by a single bit.
///
/// An impulse that comes in at frame n comes out at n plus `latencyFrames` plus the filters' own
/// delay.
///
/// ## Threading
/// One caller at a time. `process` does not allocate, lock or wait.
public struct ParametricDecoder: ~Copyable, @unchecked Sendable {
  /// Seconds in which the covariances forget.
  static let memory = 0.020

  /// Frames by which the output is later than that of `BinauralDecoder`.
  public let latencyFrames: Int
  /// Frames that the output goes on after the input and the latency have ended.
  public let tailFrames: Int

  private let hop: Int
  private let size: Int
  private let synthesis: ParametricFrame
  private let fft: RealFFT
  private let earFFT: RealFFT
  private let window: AlignedFloats
  /// The last frame of input: frames x 4.
  private let history: AlignedFloats
  private let time: AlignedFloats
  private let real: AlignedFloats
  private let imaginary: AlignedFloats
  private let earTime: AlignedFloats
  private let earReal: AlignedFloats
  private let earImaginary: AlignedFloats
  /// Output that is being summed: size x 2, beginning with the frame that leaves next.
  private let sums: AlignedFloats
  private let poses: UnsafeMutablePointer<Quaternion>
  private let poseCount: Int
  private let state: UnsafeMutablePointer<State>
  /// The covariances after the last frames, one after the other; those to go on with come first.
  private let memories: UnsafeMutablePointer<SIMD4<Float>>
  private let memoryCount: Int

  private struct State {
    /// The frame of the stream that follows what has been decoded; -1 before anything has.
    var next = -1
    /// Where the covariances become those to go on with; 0: nowhere.
    var resumption = 0

    @_noLocks init() {}
  }

  /// - Parameters:
  ///   - filters: of first order, for what is not a wave.
  ///   - waves: for the waves; made for the same rate.
  ///   - keptFrames: of the stream, at which another decoder can begin again.
  public init(filters: BinauralFilters, waves: PlaneWaveResponses, keptFrames: Int = 0) {
    precondition(filters.order == 1, "the parametric decoder is for first order")
    precondition(filters.sampleRate == waves.sampleRate)
    latencyFrames = waves.frame
    size = waves.size
    // The frame that begins with the last sample rings to its end.
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

  /// Forgets the past; the stream may go on at any frame.
  @_noLocks
  public func reset() {
    state.pointee = State()
    history.clear()
    sums.clear()
    synthesis.reset()
  }

  /// Frames of the stream from one synthesis to the next: it begins again only at multiples of
  /// this, and a pose is first heard so many frames after it was given.
  public var hopFrames: Int { @_noLocks get { hop } }

  /// What another decoder, made with the same filters, needs to begin again at a frame; nil where
  /// nothing is kept. It stays valid until the stream has gone on by `keptFrames`.
  ///
  /// - Parameter frame: of the stream, a multiple of `hopFrames`, at least that long ago and no
  ///   longer ago than `keptFrames`.
  @_noLocks
  public func memory(toBeginAt frame: Int) -> UnsafePointer<SIMD4<Float>>? {
    if memoryCount == 0 { return nil }
    // Only the frame after the next one is whole.
    let slot = 1 + (frame + hop) / hop % memoryCount
    return UnsafePointer(memories + slot * synthesis.memoryCount)
  }

  /// Begins again where another decoder has been; the output is the other one's from
  /// `hopFrames + tailFrames` later on, for the same poses.
  ///
  /// - Parameters:
  ///   - frame: of the stream, with which it goes on.
  ///   - memory: the other one's for the frame.
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

  /// Decodes the next frames.
  ///
  /// - Parameters:
  ///   - input: 4 x frames, ACN/SN3D.
  ///   - frames: any number.
  ///   - poses: the head over these frames.
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

  /// Adds what the frame that has just become whole sounds like; the next half frame moves up.
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

  /// The pose at the middle of the frame that ends before one of the stream.
  @_noLocks
  private func middlePose(of end: Int) -> Quaternion {
    let point = max(0, (end - hop) / PoseGrid.cellFrames)
    return poses[point % poseCount]
  }
}
