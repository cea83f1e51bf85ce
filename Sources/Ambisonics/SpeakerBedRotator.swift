// SPDX-License-Identifier: Apache-2.0

private import Geometry

/// Encodes a bed as a soundfield that is rotated by the inverse of the head's rotation.
///
/// For the head rotation R, a loudspeaker in the direction v is encoded in the direction R^-1 v.
/// The gains are computed at the points of a `PoseGrid` and interpolated between them.
///
/// ## Threading
/// One caller at a time. `process` does not allocate, lock or wait.
public struct SpeakerBedRotator: ~Copyable, @unchecked Sendable {
  public let order: Int
  public let speakers: Int
  public let channels: Int

  private let harmonics: HarmonicEvaluator
  private let directions: UnsafeMutablePointer<SIMD3<Double>>
  private let matrix: RampedMatrix

  /// Prepares the rotator for one bed.
  ///
  /// - Parameters:
  ///   - order: the order of the soundfield.
  ///   - directions: unit vectors to the loudspeakers.
  public init(order: Int, directions: [SIMD3<Double>]) {
    self.order = order
    speakers = directions.count
    channels = SphericalHarmonics.channelCount(order: order)
    harmonics = HarmonicEvaluator(order: order)
    self.directions = .allocate(capacity: max(1, directions.count))
    self.directions.initialize(from: directions, count: directions.count)
    matrix = RampedMatrix(inputs: directions.count, outputs: channels)
  }

  deinit { directions.deallocate() }

  /// Forgets the gains of the previous cell, so that the next call does not continue from them.
  @_noLocks
  public func reset() { matrix.gains.reset() }

  /// Encodes the next frames of the stream.
  ///
  /// - Parameters:
  ///   - input: speakers x frames, in planes that are `stride` floats apart. The next frame is at
  ///     index `poses.phase`. 7 frames past the end must be readable.
  ///   - output: channels x frames [ACN, SN3D], in the same arrangement; must not overlap `input`.
  ///   - stride: floats from one plane to the next.
  ///   - frames: the number of frames to encode.
  ///   - poses: the head poses over these frames.
  @_noLocks
  public func process(
    input: UnsafePointer<Float>, output: UnsafeMutablePointer<Float>, stride: Int, frames: Int,
    poses: GridPoses
  ) {
    var (at, done, poses) = (poses.phase, 0, poses)
    while let cell = poses.nextCell(atMost: frames - done) {
      let motion = cell.motion(order: order)
      enter(cell, motion)
      matrix.mix(
        input + at, inputStride: stride, output + at, outputStride: stride, cell: cell,
        motion: motion)
      at += cell.frames
      done += cell.frames
    }
  }

  @_noLocks
  private func enter(_ cell: GridCell, _ motion: GridMotion) {
    let step = matrix.gains.enter(cell)
    if case .none = step { return }
    if case .both = step { encode(seenFrom: cell.start, into: matrix.gains.end) }
    matrix.gains.beginCell()
    if cell.isStill { return }
    encode(seenFrom: cell.end, into: matrix.gains.end)
    matrix.gains.setSlopes()
    guard motion.bends else { return }
    encode(seenFrom: cell.middle, into: matrix.gains.middle)
    matrix.gains.setCurves()
  }

  @_noLocks
  private func encode(seenFrom pose: Quaternion, into gains: UnsafeMutablePointer<Float>) {
    let turn = RotationMatrix(pose.conjugate)
    for s in 0..<speakers {
      harmonics.evaluate(turn.rotate(directions[s]), into: gains + s * channels)
    }
  }
}
