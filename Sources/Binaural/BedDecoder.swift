// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Geometry
private import SignalProcessing

/// Plays loudspeakers through the soundfield's filters, the head's turn being part of their encoding.
///
/// It gives what `BinauralDecoder` gives for the encoded loudspeakers (below -120 dB), for less; see
/// `SpeakerBedRotator`.
///
/// ## Threading
/// One caller at a time. `process` does not allocate, lock or wait.
public struct BedDecoder: ~Copyable, @unchecked Sendable {
  /// Frames that the output goes on after the input has ended.
  public let tailFrames: Int

  private let rotator: SpeakerBedRotator
  private let convolver: PartitionedConvolver
  private let staged: AlignedFloats
  private let bus: AlignedFloats
  private let stride: Int

  /// - Parameters:
  ///   - filters: of any order from 1 to 7.
  ///   - directions: unit vectors to the loudspeakers, in the room.
  ///   - partition: see `BinauralDecoder`.
  public init(filters: BinauralFilters, directions: [SIMD3<Double>], partition: Int) {
    tailFrames = max(0, filters.taps - 1)
    rotator = SpeakerBedRotator(order: filters.order, directions: directions)
    convolver = PartitionedConvolver(
      left: filters.left, right: filters.right, partition: partition)
    stride = partition + 8
    staged = AlignedFloats(count: stride * max(1, directions.count))
    bus = AlignedFloats(count: stride * filters.left.count)
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

  /// Back to the beginning of a stream: the past is forgotten, the grid starts again.
  @_noLocks
  public func reset() {
    rotator.reset()
    convolver.reset()
  }

  /// Decodes the next frames.
  ///
  /// - Parameters:
  ///   - input: speakers x frames.
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
      for s in 0..<rotator.speakers {
        let (from, to) = (input[s] + done, staged.pointer + s * stride)
        for i in 0..<count { to[i] = from[i] }
      }
      let needed = rotator.gridPoints(forNext: count).count
      rotator.process(
        input: staged.pointer, output: bus.pointer, stride: stride, frames: count,
        poses: poses + used)
      convolver.process(
        input: bus.pointer, stride: stride, frames: count, left: left + done,
        right: right + done)
      used += needed
      done += count
    }
  }
}
