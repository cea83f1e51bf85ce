// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
private import Geometry

/// Pans the channels of a bed to other loudspeakers, according to the directions of the bed's
/// loudspeakers relative to the head.
///
/// Gains are computed at the points of a `PoseGrid` and change linearly between them. For a stereo
/// target, the sound is panned to five loudspeakers and then folded down.
///
/// ## Threading
/// Call `process` from one thread at a time. It allocates memory, so it is unsuitable for real-time
/// threads.
public struct TurningPanner: ~Copyable, @unchecked Sendable {
  public let inputs: Int
  public let outputs: Int

  private let panner: AmplitudePanner
  private let fold: [[Double]]?
  private let directions: [SIMD3<Double>]
  private let matrix: RampedMatrix

  /// Prepares the panner.
  ///
  /// - Parameters:
  ///   - directions: unit vectors on the stage to the loudspeakers of the bed.
  ///   - target: the loudspeakers to pan to: a front pair, or at least three around the listener.
  public init(directions: [SIMD3<Double>], target: [Speaker]) {
    let around = target == [.frontLeft, .frontRight] ? Self.ring : target
    self.directions = directions
    panner = AmplitudePanner(speakers: around)
    fold = around == target ? nil : Treatment(plain: .speakers(around)).headLocked
    (inputs, outputs) = (directions.count, target.count)
    matrix = RampedMatrix(inputs: directions.count, outputs: target.count)
  }

  private static let ring: [Speaker] = [
    .frontLeft, .frontRight, .frontCenter, .sideLeft, .sideRight,
  ]

  /// Pans the next frames of the stream.
  ///
  /// - Parameters:
  ///   - input: loudspeakers x frames. The first frame is at index `poses.phase`; 7 floats after
  ///     the last frame must be readable.
  ///   - output: outputs x frames in the same arrangement. It must not overlap `input`.
  ///   - stride: the number of floats from one channel to the next.
  ///   - frames: the number of frames.
  ///   - poses: the poses of the head over these frames.
  public func process(
    input: UnsafePointer<Float>, output: UnsafeMutablePointer<Float>, stride: Int, frames: Int,
    poses: GridPoses
  ) {
    var (at, done, poses) = (poses.phase, 0, poses)
    while let cell = poses.nextCell(atMost: frames - done) {
      enter(cell)
      matrix.mix(
        input + at, inputStride: stride, output + at, outputStride: stride, cell: cell,
        motion: cell.isStill ? .still : .even)
      at += cell.frames
      done += cell.frames
    }
  }

  private func enter(_ cell: GridCell) {
    let step = matrix.gains.enter(cell)
    if case .none = step { return }
    if case .both = step { pan(seenFrom: cell.start) }
    matrix.gains.beginCell()
    if cell.isStill { return }
    pan(seenFrom: cell.end)
    matrix.gains.setSlopes()
  }

  private func pan(seenFrom pose: Quaternion) {
    let turn = RotationMatrix(pose.conjugate)
    for (input, direction) in directions.enumerated() {
      let gains = panner.gains(turn.rotate(direction))
      for output in 0..<outputs {
        let gain = fold.map { row in zip(row[output], gains).reduce(0) { $0 + $1.0 * $1.1 } }
        matrix.gains.end[input * outputs + output] = Float(gain ?? gains[output])
      }
    }
  }
}
