// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Geometry

/// Pans the loudspeakers of a bed between other loudspeakers as the head sees them.
///
/// The gains are computed for every 16th frame of the stream and ramped between, as those of
/// `SpeakerBedRotator`. For stereo the sound is panned around the listener and then folded down.
///
/// ## Threading
/// One caller at a time; made for files: a moving head's gains are computed in fresh memory.
public struct TurningPanner: ~Copyable, @unchecked Sendable {
  public let inputs: Int
  public let outputs: Int

  private let panner: AmplitudePanner
  private let fold: [[Double]]?
  private let directions: [SIMD3<Double>]
  private let matrix: RampedMatrix
  private let grid: UnsafeMutablePointer<GridState>

  /// - Parameters:
  ///   - directions: unit vectors to the source's loudspeakers, in the room.
  ///   - target: the loudspeakers that sound.
  public init(directions: [SIMD3<Double>], target: [Speaker]) {
    let around = target == [.frontLeft, .frontRight] ? Self.ring : target
    self.directions = directions
    panner = AmplitudePanner(speakers: around)
    fold = around == target ? nil : Treatment(plain: .speakers(around)).headLocked
    (inputs, outputs) = (directions.count, target.count)
    matrix = RampedMatrix(inputs: directions.count, outputs: target.count)
    grid = .allocate(capacity: 1)
    grid.initialize(to: GridState())
  }

  deinit { grid.deallocate() }

  private static let ring: [Speaker] = [
    .frontLeft, .frontRight, .frontCenter, .sideLeft, .sideRight,
  ]

  /// The grid points whose poses the next `frames` frames need; see `SoundfieldRotator`.
  public func gridPoints(forNext frames: Int) -> Range<Int> {
    grid.pointee.gridPoints(forNext: frames)
  }

  /// Pans the next frames of the stream.
  ///
  /// - Parameters:
  ///   - input: loudspeakers x frames, channel after channel `stride` apart; readable up to the next
  ///     multiple of 8 frames.
  ///   - output: outputs x frames, likewise; not the same memory.
  ///   - stride: floats from one channel to the next.
  ///   - frames: frames to do.
  ///   - poses: head poses `headToWorld` for `gridPoints(forNext: frames)`.
  public func process(
    input: UnsafePointer<Float>, output: UnsafeMutablePointer<Float>, stride: Int, frames: Int,
    poses: UnsafePointer<Quaternion>
  ) {
    var (done, used) = (0, 0)
    while done < frames {
      if grid.pointee.phase == 0 { used += beginCell(poses + used) }
      let count = grid.pointee.frames(ofNext: frames - done)
      matrix.mix(
        input + done, inputStride: stride, output + done, outputStride: stride, frames: count,
        offset: grid.pointee.phase, motion: grid.pointee.isStill ? .still : .even)
      done += count
      grid.pointee.position += count
    }
  }

  private func beginCell(_ poses: UnsafePointer<Quaternion>) -> Int {
    var taken = 0
    if grid.pointee.isAtStart {
      pan(seenFrom: poses[0])
      grid.pointee.cellEnd = poses[0]
      taken = 1
    }
    matrix.beginCell()
    grid.pointee.enterCell(to: poses[taken])
    if !grid.pointee.isStill {
      pan(seenFrom: poses[taken])
      matrix.setSlopes()
    }
    grid.pointee.nextPoint += taken + 1
    return taken + 1
  }

  private func pan(seenFrom pose: Quaternion) {
    let turn = RotationMatrix(pose.conjugate)
    for (input, direction) in directions.enumerated() {
      let gains = panner.gains(turn.rotate(direction))
      for output in 0..<outputs {
        let gain = fold.map { row in zip(row[output], gains).reduce(0) { $0 + $1.0 * $1.1 } }
        matrix.end[input * outputs + output] = Float(gain ?? gains[output])
      }
    }
  }
}
