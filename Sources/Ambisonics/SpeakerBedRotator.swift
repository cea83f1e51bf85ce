// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// Encodes loudspeakers as the head sees them: the soundfield of a bed, turned against the head.
///
/// A loudspeaker at v is heard from R^-1 v, so that its gains y(R^-1 v) do what encoding it and turning
/// the soundfield do together, and for less. They are computed for every 16th frame of the
/// stream and ramped between, like the matrices of `SoundfieldRotator`, and give the same soundfield.
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
  private let grid: UnsafeMutablePointer<GridState>

  /// - Parameters:
  ///   - order: of the soundfield.
  ///   - directions: unit vectors to the loudspeakers, in the room.
  public init(order: Int, directions: [SIMD3<Double>]) {
    self.order = order
    speakers = directions.count
    channels = SphericalHarmonics.channelCount(order: order)
    harmonics = HarmonicEvaluator(order: order)
    self.directions = .allocate(capacity: max(1, directions.count))
    self.directions.initialize(from: directions, count: directions.count)
    matrix = RampedMatrix(inputs: directions.count, outputs: channels)
    grid = .allocate(capacity: 1)
    grid.initialize(to: GridState())
  }

  deinit {
    directions.deallocate()
    grid.deallocate()
  }

  /// The grid points whose poses the next `frames` frames need; see `SoundfieldRotator`.
  @_noLocks
  public func gridPoints(forNext frames: Int) -> Range<Int> {
    grid.pointee.gridPoints(forNext: frames)
  }

  /// Where it stands on the grid of head poses; set, it goes on from there.
  public var gridState: GridState {
    @_noLocks get { grid.pointee }
    @_noLocks nonmutating set {
      if !newValue.isAtStart {
        setEnd(newValue.cellStart)
        grid.pointee.cellEnd = newValue.cellStart
        enterCell(to: newValue.cellEnd)
      }
      grid.pointee = newValue
    }
  }

  /// Back to the beginning of a stream.
  @_noLocks
  public func reset() {
    grid.pointee = GridState()
  }

  /// Encodes the next frames of the stream.
  ///
  /// - Parameters:
  ///   - input: speakers x frames, channel after channel `stride` apart; readable up to the next
  ///     multiple of 8 frames.
  ///   - output: channels x frames in ACN order and SN3D scale, likewise; not the same memory.
  ///   - stride: floats from one channel to the next, a multiple of 8.
  ///   - frames: frames to do.
  ///   - poses: head poses `headToWorld` for `gridPoints(forNext: frames)`.
  @_noLocks
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
        offset: grid.pointee.phase, isStill: grid.pointee.isStill)
      done += count
      grid.pointee.position += count
    }
  }

  /// Takes the pose at the end of the cell that begins; at the very start also that of its beginning.
  @_noLocks
  private func beginCell(_ poses: UnsafePointer<Quaternion>) -> Int {
    var taken = 0
    if grid.pointee.isAtStart {
      setEnd(poses[0])
      grid.pointee.cellEnd = poses[0]
      taken = 1
    }
    enterCell(to: poses[taken])
    grid.pointee.nextPoint += taken + 1
    return taken + 1
  }

  /// From the last cell's end to the next pose.
  @_noLocks
  private func enterCell(to pose: Quaternion) {
    matrix.beginCell()
    grid.pointee.enterCell(to: pose)
    if grid.pointee.isStill { return }
    setEnd(pose)
    matrix.setSlopes()
  }

  @_noLocks
  private func setEnd(_ pose: Quaternion) {
    let turn = RotationMatrix(pose.conjugate)
    for s in 0..<speakers {
      harmonics.evaluate(turn.rotate(directions[s]), into: matrix.end + s * channels)
    }
  }
}
