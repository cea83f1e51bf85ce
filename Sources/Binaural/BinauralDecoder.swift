// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import SignalProcessing

/// Turns a soundfield, or loudspeakers, against the head and decodes them for two ears.
///
/// A stage that follows the head makes the inputs of fixed filters: a soundfield is rotated,
/// loudspeakers are encoded where the head sees them (which gives what encoding and rotating give,
/// below -120 dB, for less), or mixed into a bank of directional responses.
///
/// An impulse that comes in at frame n comes out at n plus the filters' own delay, for any size
/// of the calls; the output differs between call sizes by rounding only (below -120 dB).
///
/// ## Threading
/// One caller at a time. `process` does not allocate, lock or wait.
public struct BinauralDecoder: ~Copyable, @unchecked Sendable {
  /// Channels of the input.
  public let channels: Int
  /// Frames that the output goes on after the input has ended.
  public let tailFrames: Int
  /// True where the ears' filters are mirror images and half of them suffice.
  public var isSymmetric: Bool { convolver.isSymmetric }

  /// Not private: other modules destroy it.
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

  /// Decodes a soundfield.
  ///
  /// - Parameters:
  ///   - filters: of any order from 1 to 7.
  ///   - partition: frames of one partition of the convolution, a power of two from 16; calls of so
  ///     many frames cost least.
  ///   - set: which kernels.
  ///   - usesSymmetry: make use of ears that are mirror images.
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

  /// Decodes loudspeakers, through the soundfield or through responses of their own directions.
  ///
  /// - Parameters:
  ///   - filters: of any order from 1 to 7, or direct ones.
  ///   - directions: unit vectors to the loudspeakers, in the room.
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
    // A piece begins anywhere in a cell and is read in whole vectors.
    stride = (convolver.partition + 2 * PoseGrid.cellFrames + 15) & ~15
    staged = AlignedFloats(count: stride * max(1, channels))
    turned = AlignedFloats(count: stride * convolver.inputs)
    self.stage = stage
    self.convolver = convolver
  }

  /// The largest partition that calls of `frames` frames fill exactly, 32 to 512 frames.
  public static func partition(forBlock frames: Int) -> Int {
    var size = 32
    while size * 2 <= min(frames, 512) { size *= 2 }
    return size
  }

  /// Decodes the next frames.
  ///
  /// - Parameters:
  ///   - input: channels x frames; a soundfield in ACN order and SN3D scale.
  ///   - frames: any number.
  ///   - poses: the head over these frames.
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

  /// Forgets the past; the stream may go on at any frame.
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
