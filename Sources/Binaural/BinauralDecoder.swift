// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Geometry
public import SignalProcessing

/// Turns a soundfield against the head and decodes it for two ears.
///
/// An impulse that comes in at frame n comes out at n plus the filters' own delay, for any size
/// of the calls; the output differs between call sizes by rounding only (below -120 dB).
///
/// ## Threading
/// One caller at a time. `process` does not allocate, lock or wait.
public struct BinauralDecoder: ~Copyable, @unchecked Sendable {
  public let channels: Int
  /// Frames that the output goes on after the input has ended.
  public let tailFrames: Int
  /// True where the ears' filters are mirror images and half of them suffice.
  public var isSymmetric: Bool { convolver.isSymmetric }

  private let rotator: SoundfieldRotator
  private let convolver: PartitionedConvolver
  private let staged: AlignedFloats
  private let turned: AlignedFloats
  private let stride: Int

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
    channels = filters.left.count
    tailFrames = max(0, filters.taps - 1)
    rotator = SoundfieldRotator(order: filters.order, set: set)
    convolver = PartitionedConvolver(
      left: filters.left, right: filters.right, partition: partition, set: set,
      usesSymmetry: usesSymmetry)
    stride = (partition + 2 * SoundfieldRotator.gridFrames + 15) & ~15
    staged = AlignedFloats(count: stride * channels)
    turned = AlignedFloats(count: stride * channels)
  }

  /// The largest partition that calls of `frames` frames fill exactly, 32 to 512 frames.
  public static func partition(forBlock frames: Int) -> Int {
    var size = 32
    while size * 2 <= min(frames, 512) { size *= 2 }
    return size
  }

  /// The grid points whose poses the next `frames` frames need; see `SoundfieldRotator`.
  @_noLocks
  public func gridPoints(forNext frames: Int) -> Range<Int> {
    rotator.gridPoints(forNext: frames)
  }

  /// Where it stands on the grid of head poses; set, it goes on from there.
  public var gridState: GridState {
    @_noLocks get { rotator.gridState }
    @_noLocks nonmutating set { rotator.gridState = newValue }
  }

  /// Decodes the next frames.
  ///
  /// - Parameters:
  ///   - input: channels x frames, ACN/SN3D.
  ///   - frames: any number.
  ///   - poses: head poses `headToWorld` for `gridPoints(forNext: frames)`.
  ///   - left: receives `frames` samples.
  ///   - right: receives `frames` samples.
  @_noLocks
  public func process(
    input: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int,
    poses: UnsafePointer<Quaternion>, left: UnsafeMutablePointer<Float>,
    right: UnsafeMutablePointer<Float>
  ) {
    var (done, used) = (0, 0)
    while done < frames {
      let count = min(convolver.framesToBorder, frames - done)
      let phase = rotator.phase
      for c in 0..<channels {
        let (from, to) = (input[c] + done, staged.pointer + c * stride + phase)
        for i in 0..<count { to[i] = from[i] }
      }
      let needed = rotator.gridPoints(forNext: count).count
      rotator.process(
        input: staged.pointer, output: turned.pointer, stride: stride, frames: count,
        poses: poses + used)
      convolver.process(
        input: turned.pointer + phase, stride: stride, frames: count, left: left + done,
        right: right + done)
      used += needed
      done += count
    }
  }

  /// Back to the beginning of a stream: the past is forgotten, the grid starts again.
  @_noLocks
  public func reset() {
    rotator.reset()
    convolver.reset()
  }
}
