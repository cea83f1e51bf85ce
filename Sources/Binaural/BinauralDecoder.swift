// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import SignalProcessing

/// Rotates a soundfield or a bed by the inverse of the head's rotation and decodes it to two ears.
///
/// The filters are constant. A stage before them computes their inputs for the current pose. It
/// rotates a soundfield, encodes loudspeakers in their directions relative to the head, or mixes
/// loudspeakers into the inputs of a `DirectionalBank`. The number of frames per call changes the
/// output only by rounding errors.
///
/// ## Threading
/// Use a decoder from one thread at a time. `process` does not allocate, lock or wait.
public struct BinauralDecoder: ~Copyable, @unchecked Sendable {
  /// The number of input channels.
  public let channels: Int
  /// The maximum number of frames for which the output continues after the input ends.
  public let tailFrames: Int
  /// Whether one filter per input serves both ears; see `PartitionedConvolver.isSymmetric`.
  public var isSymmetric: Bool { convolver.isSymmetric }

  /// The stage that depends on the pose of the head. It is not private, because the compiler needs
  /// the type of a noncopyable member in modules that destroy decoders.
  enum Stage: ~Copyable {
    case field(SoundfieldRotator)
    case encoded(SpeakerBedRotator)
    case direct(DirectionalMixer)
  }

  private let stage: Stage
  private let convolver: PartitionedConvolver
  private let staged: AlignedFloats
  private let turned: AlignedFloats
  private let stride: Int

  /// Creates a decoder for a soundfield.
  ///
  /// - Parameters:
  ///   - filters: filters of an order from 1 to 7.
  ///   - partition: the number of frames in the shortest partition of the convolution: a power of
  ///     two, at least 16. Calls with fewer frames take more time per frame.
  ///   - set: the instruction set of the kernels.
  ///   - usesSymmetry: whether one filter per input may serve both ears.
  public init(
    filters: BinauralFilters, partition: Int, set: InstructionSet = .current,
    usesSymmetry: Bool = true
  ) {
    self.init(
      .field(SoundfieldRotator(order: filters.order, set: set)), channels: filters.left.count,
      tailFrames: max(0, filters.taps - 1),
      PartitionedConvolver(
        left: filters.left, right: filters.right, partition: partition, set: set,
        usesSymmetry: usesSymmetry))
  }

  /// Creates a decoder for a bed. Direct filters render the loudspeakers through the responses for
  /// their own directions. Other filters render them through a soundfield.
  ///
  /// - Parameters:
  ///   - filters: filters of an order from 1 to 7, or direct filters.
  ///   - directions: unit vectors to the loudspeakers, on the stage.
  ///   - partition: as for a soundfield.
  public init(filters: BinauralFilters, speakers directions: [SIMD3<Double>], partition: Int) {
    if let bank = filters.direct {
      let mixer = DirectionalMixer(
        bank: bank, sampleRate: filters.sampleRate, directions: directions)
      let tail = bank.taps + mixer.longestDelay
      let silence = [[Float]](repeating: [0], count: DirectionalBank.rank)
      let ears = bank.crossed ?? (bank.filters + silence, silence + bank.filters)
      self.init(
        .direct(mixer), channels: directions.count, tailFrames: tail,
        PartitionedConvolver(left: ears.left, right: ears.right, partition: partition))
    } else {
      self.init(
        .encoded(SpeakerBedRotator(order: filters.order, directions: directions)),
        channels: directions.count, tailFrames: max(0, filters.taps - 1),
        PartitionedConvolver(left: filters.left, right: filters.right, partition: partition))
    }
  }

  private init(
    _ stage: consuming Stage, channels: Int, tailFrames: Int,
    _ convolver: consuming PartitionedConvolver
  ) {
    self.channels = channels
    self.tailFrames = tailFrames
    // The stride exceeds the partition, because the first frame of a call may be anywhere in a grid
    // cell, and frames are read in complete SIMD vectors.
    stride = (convolver.partition + 2 * PoseGrid.cellFrames + 15) & ~15
    staged = AlignedFloats(count: stride * max(1, channels))
    turned = AlignedFloats(count: stride * convolver.inputs)
    self.stage = stage
    self.convolver = convolver
  }

  /// Returns the partition for blocks of `frames` frames: the largest power of two up to `frames`,
  /// at least 32 and at most 512.
  public static func partition(forBlock frames: Int) -> Int {
    var size = 32
    while size * 2 <= min(frames, 512) { size *= 2 }
    return size
  }

  /// Decodes the next frames.
  ///
  /// - Parameters:
  ///   - input: channels x frames; a soundfield in ACN order and SN3D scale, or loudspeaker
  ///     signals.
  ///   - frames: the number of frames to decode.
  ///   - poses: the head poses for these frames.
  ///   - left: receives `frames` samples.
  ///   - right: receives `frames` samples.
  @_noLocks
  public func process(
    input: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int, poses: GridPoses,
    left: UnsafeMutablePointer<Float>, right: UnsafeMutablePointer<Float>
  ) {
    var (done, poses) = (0, poses)
    while done < frames {
      let count = min(convolver.framesToBorder, frames - done)
      let phase = poses.phase
      for c in 0..<channels {
        let (from, to) = (input[c] + done, staged.pointer + c * stride + phase)
        for i in 0..<count { to[i] = from[i] }
      }
      turn(count, poses)
      convolver.process(
        input: turned.pointer + phase, stride: stride, frames: count, left: left + done,
        right: right + done)
      poses.advance(by: count)
      done += count
    }
  }

  @_noLocks
  private func turn(_ frames: Int, _ poses: GridPoses) {
    let (input, output) = (staged.pointer, turned.pointer)
    switch stage {
    case .field(let rotator):
      rotator.process(input: input, output: output, stride: stride, frames: frames, poses: poses)
    case .encoded(let rotator):
      rotator.process(input: input, output: output, stride: stride, frames: frames, poses: poses)
    case .direct(let mixer):
      mixer.process(input: input, output: output, stride: stride, frames: frames, poses: poses)
    }
  }

  /// Clears all state. The stream may then continue at any frame.
  @_noLocks
  public func reset() {
    switch stage {
    case .field(let rotator): rotator.reset()
    case .encoded(let rotator): rotator.reset()
    case .direct(let mixer): mixer.reset()
    }
    convolver.reset()
  }
}
