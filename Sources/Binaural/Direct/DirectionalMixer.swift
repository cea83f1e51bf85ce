// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
private import CRealtime
internal import Geometry
private import SignalProcessing

/// Mixes loudspeaker signals into the inputs of a `DirectionalBank`. Gains and delays depend on the
/// directions of the loudspeakers relative to the head.
///
/// Gains and delays are computed at grid points and change linearly between them.
///
/// ## Threading
/// One caller at a time. `process` does not allocate, lock or wait.
struct DirectionalMixer: ~Copyable, @unchecked Sendable {
  let longestDelay: Int

  private let speakers: Int
  private let directions: UnsafeMutablePointer<SIMD3<Double>>
  private let table: DirectionTable
  private let line: EarDelayLine
  private let left: RampedMatrix
  private let right: RampedMatrix
  /// The delayed loudspeaker signals: 2 ears x speakers x 16 frames.
  private let delayed: AlignedFloats

  /// - Parameters:
  ///   - bank: a bank that was designed for the playback rate.
  ///   - sampleRate: the playback rate, in Hz.
  ///   - directions: unit vectors to the loudspeakers, on the stage.
  init(bank: DirectionalBank, sampleRate: Double, directions: [SIMD3<Double>]) {
    speakers = directions.count
    self.directions = .allocate(capacity: max(1, directions.count))
    self.directions.initialize(from: directions, count: directions.count)
    table = DirectionTable(bank)
    line = EarDelayLine(speakers: directions.count, sampleRate: sampleRate)
    longestDelay = line.longestDelay
    left = RampedMatrix(inputs: directions.count, outputs: DirectionalBank.rank)
    right = RampedMatrix(inputs: directions.count, outputs: DirectionalBank.rank)
    delayed = AlignedFloats(count: 2 * directions.count * PoseGrid.cellFrames)
  }

  deinit { directions.deallocate() }

  /// Clears all state. The stream may then continue at any frame.
  @_noLocks
  func reset() {
    left.gains.reset()
    line.reset()
  }

  /// Mixes the next frames of the stream.
  ///
  /// - Parameters:
  ///   - input: speakers x frames, with the next frame at index `poses.phase` of each plane.
  ///   - output: 2 ears x `DirectionalBank.rank` x frames, in the same arrangement. It must not
  ///     overlap `input`.
  ///   - stride: floats from one plane to the next.
  ///   - frames: the number of frames to mix.
  ///   - poses: the head poses for these frames.
  @_noLocks
  func process(
    input: UnsafePointer<Float>, output: UnsafeMutablePointer<Float>, stride: Int, frames: Int,
    poses: GridPoses
  ) {
    var (at, done, poses) = (poses.phase, 0, poses)
    while let cell = poses.nextCell(atMost: frames - done) {
      enter(cell)
      delay(input + at, stride, cell)
      mix(output + at, stride, cell)
      at += cell.frames
      done += cell.frames
    }
  }

  @_noLocks
  private func delay(_ input: UnsafePointer<Float>, _ stride: Int, _ cell: GridCell) {
    for s in 0..<speakers { line.write(input + s * stride, speaker: s, frames: cell.frames) }
    for ear in 0..<2 {
      for s in 0..<speakers {
        line.read(
          delayed.pointer + (ear * speakers + s) * PoseGrid.cellFrames, speaker: s, ear: ear,
          frames: cell.frames, offset: cell.phase)
      }
    }
    line.advance(by: cell.frames)
  }

  @_noLocks
  private func mix(_ output: UnsafeMutablePointer<Float>, _ stride: Int, _ cell: GridCell) {
    let motion: GridMotion = cell.isStill ? .still : .even
    left.mix(
      delayed.pointer, inputStride: PoseGrid.cellFrames, output, outputStride: stride, cell: cell,
      motion: motion)
    right.mix(
      delayed.pointer + speakers * PoseGrid.cellFrames, inputStride: PoseGrid.cellFrames,
      output + DirectionalBank.rank * stride, outputStride: stride, cell: cell, motion: motion)
  }

  @_noLocks
  private func enter(_ cell: GridCell) {
    let step = left.gains.enter(cell)
    if case .none = step { return }
    if case .both = step { setEnd(cell.start) }
    left.gains.beginCell()
    right.gains.beginCell()
    line.beginCell()
    if cell.isStill { return }
    setEnd(cell.end)
    left.gains.setSlopes()
    right.gains.setSlopes()
    line.setSlopes()
  }

  @_noLocks
  private func setEnd(_ pose: Quaternion) {
    let (turn, rank) = (RotationMatrix(pose.conjugate), DirectionalBank.rank)
    for s in 0..<speakers {
      let v = turn.rotate(directions[s])
      table.look(up: v, left: left.gains.end + s * rank, right: right.gains.end + s * rank)
      line.setArrival(GapFilling.arrival(v, ear: 0), speaker: s, ear: 0)
      line.setArrival(GapFilling.arrival(v, ear: 1), speaker: s, ear: 1)
    }
  }
}
