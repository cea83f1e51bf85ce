// SPDX-License-Identifier: Apache-2.0

private import Geometry
public import SignalProcessing

/// Rotates a soundfield by the inverse of the head's rotation.
///
/// Rotation matrices are computed at the points of a `PoseGrid`. Between the points, their elements
/// are interpolated linearly. If the rotation in a cell is large (see `GridCell.motion`), a third
/// matrix is computed for the middle of the cell, and the elements follow a parabola.
///
/// ## Threading
/// One caller at a time. `process` does not allocate, lock or wait.
public struct SoundfieldRotator: ~Copyable, @unchecked Sendable {
  public let order: Int
  public let channels: Int

  private let set: InstructionSet
  private let rotation: SphericalHarmonicRotation
  private let gains: RampedGains
  private let motion: UnsafeMutablePointer<GridMotion>

  public init(order: Int, set: InstructionSet = .current) {
    self.order = order
    self.set = set
    channels = SphericalHarmonics.channelCount(order: order)
    rotation = SphericalHarmonicRotation(order: order, set: set)
    gains = RampedGains(count: rotation.coefficientCount)
    motion = .allocate(capacity: 1)
    motion.initialize(to: .still)
  }

  deinit { motion.deallocate() }

  /// Forgets the gains of the previous cell, so that the next call does not continue from them.
  @_noLocks
  public func reset() { gains.reset() }

  /// Rotates the next frames of the stream.
  ///
  /// - Parameters:
  ///   - input: channels in ACN order, `stride` floats apart. The next frame is at index
  ///     `poses.phase`. The memory must be aligned to 64 bytes and readable up to the next multiple
  ///     of 16 frames.
  ///   - output: channels in the same arrangement; must not overlap `input`. Frames before and
  ///     after those to rotate may be overwritten.
  ///   - stride: floats from one channel to the next, a multiple of 16.
  ///   - frames: the number of frames to rotate.
  ///   - poses: the head poses over these frames.
  @_noLocks
  public func process(
    input: UnsafePointer<Float>, output: UnsafeMutablePointer<Float>, stride: Int, frames: Int,
    poses: GridPoses
  ) {
    var (at, done, poses) = (0, 0, poses)
    while let cell = poses.nextCell(atMost: frames - done) {
      enter(cell)
      turn(input + at, output + at, stride, cell.phase + cell.frames)
      at += PoseGrid.cellFrames
      done += cell.frames
    }
  }

  @_noLocks
  private func enter(_ cell: GridCell) {
    let step = gains.enter(cell)
    if case .none = step { return }
    if case .both = step { compute(cell.start, into: gains.end) }
    gains.beginCell()
    motion.pointee = cell.motion(order: order)
    if cell.isStill { return }
    compute(cell.end, into: gains.end)
    gains.setSlopes()
    guard motion.pointee.bends else { return }
    compute(cell.middle, into: gains.middle)
    gains.setCurves()
  }

  @_noLocks
  private func compute(_ pose: Quaternion, into matrix: UnsafeMutablePointer<Float>) {
    rotation.compute(RotationMatrix(pose.conjugate), into: matrix)
  }

  /// Rotates the first `frames` frames of a cell.
  @_noLocks
  private func turn(
    _ input: UnsafePointer<Float>, _ output: UnsafeMutablePointer<Float>, _ stride: Int,
    _ frames: Int
  ) {
    for i in 0..<frames { output[i] = input[i] }
    let (moves, bends) = (motion.pointee.moves, motion.pointee.bends)
    var block = 0
    for l in 1...order {
      let (size, first) = (2 * l + 1, l * l * stride)
      set.turnDegree(
        input + first, output + first, stride: stride, size: size, frames: frames,
        gains: gains.starts.pointer + block, slopes: moves ? gains.slopes.pointer + block : nil,
        curves: bends ? gains.curves.pointer + block : nil)
      block += size * size
    }
  }
}
