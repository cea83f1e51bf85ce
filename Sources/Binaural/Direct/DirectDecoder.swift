// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
private import CRealtime
public import Geometry
private import SignalProcessing

/// Plays loudspeakers through responses of their own directions, which turn with the head.
///
/// Each loudspeaker is delayed by its arrival time at each ear and mixed into the inputs of a fixed
/// bank of filters. Delays and gains belong to where the head sees the loudspeaker; they are
/// computed for every 16th frame of the stream and go linearly between, so that the output depends
/// neither on the size of the calls nor on where they begin, and no filter is ever exchanged.
///
/// ## Threading
/// One caller at a time. `process` does not allocate, lock or wait.
public struct DirectDecoder: ~Copyable, @unchecked Sendable {
  public let speakers: Int
  /// Frames that the output goes on after the input has ended.
  public let tailFrames: Int

  private let directions: UnsafeMutablePointer<SIMD3<Double>>
  private let table: DirectionTable
  private let line: EarDelayLine
  private let left: RampedMatrix
  private let right: RampedMatrix
  private let convolver: PartitionedConvolver
  /// speakers x 2 ears x 16 frames.
  private let delayed: AlignedFloats
  /// 2 ears x rank x frames: the convolver's inputs.
  private let bus: AlignedFloats
  private let stride: Int
  private let cell = SoundfieldRotator.gridFrames
  private let grid: UnsafeMutablePointer<GridState>

  /// - Parameters:
  ///   - bank: for the playing rate.
  ///   - sampleRate: of playing, Hz.
  ///   - directions: unit vectors to the loudspeakers, in the room.
  ///   - partition: see `BinauralDecoder`.
  public init(
    bank: DirectionalBank, sampleRate: Double, directions: [SIMD3<Double>], partition: Int
  ) {
    let rank = DirectionalBank.rank
    speakers = directions.count
    self.directions = .allocate(capacity: max(1, directions.count))
    self.directions.initialize(from: directions, count: directions.count)
    table = DirectionTable(bank)
    line = EarDelayLine(speakers: directions.count, sampleRate: sampleRate)
    left = RampedMatrix(inputs: directions.count, outputs: rank)
    right = RampedMatrix(inputs: directions.count, outputs: rank)
    let silence = [[Float]](repeating: [0], count: rank)
    let ears = bank.crossed ?? (bank.filters + silence, silence + bank.filters)
    convolver = PartitionedConvolver(left: ears.left, right: ears.right, partition: partition)
    tailFrames = bank.taps + line.longestDelay
    delayed = AlignedFloats(count: 2 * directions.count * SoundfieldRotator.gridFrames)
    stride = partition + 8
    bus = AlignedFloats(count: 2 * rank * stride)
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

  /// Back to the beginning of a stream: the past is forgotten, the grid starts again.
  @_noLocks
  public func reset() {
    grid.pointee = GridState()
    line.reset()
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
      var piece = 0
      while piece < count {
        if grid.pointee.phase == 0 { used += beginCell(poses + used) }
        let part = grid.pointee.frames(ofNext: count - piece)
        fillBus(input, at: done + piece, bus.pointer + piece, part)
        piece += part
      }
      convolver.process(
        input: bus.pointer, stride: stride, frames: count, left: left + done, right: right + done)
      done += count
    }
  }

  /// Delays and mixes frames of one cell.
  @_noLocks
  private func fillBus(
    _ input: UnsafePointer<UnsafeMutablePointer<Float>>, at first: Int,
    _ bus: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    let offset = grid.pointee.phase
    for s in 0..<speakers { line.write(input[s] + first, speaker: s, frames: frames) }
    for ear in 0..<2 {
      for s in 0..<speakers {
        line.read(
          delayed.pointer + (ear * speakers + s) * cell, speaker: s, ear: ear, frames: frames,
          offset: offset)
      }
    }
    let motion: GridMotion = grid.pointee.isStill ? .still : .even
    left.mix(
      delayed.pointer, inputStride: cell, bus, outputStride: stride, frames: frames,
      offset: offset, motion: motion)
    right.mix(
      delayed.pointer + speakers * cell, inputStride: cell,
      bus + DirectionalBank.rank * stride, outputStride: stride, frames: frames, offset: offset,
      motion: motion)
    line.advance(by: frames)
    grid.pointee.position += frames
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
    left.beginCell()
    right.beginCell()
    line.beginCell()
    grid.pointee.enterCell(to: pose)
    if grid.pointee.isStill { return }
    setEnd(pose)
    left.setSlopes()
    right.setSlopes()
    line.setSlopes()
  }

  @_noLocks
  private func setEnd(_ pose: Quaternion) {
    let (turn, rank) = (RotationMatrix(pose.conjugate), DirectionalBank.rank)
    for s in 0..<speakers {
      let v = turn.rotate(directions[s])
      table.look(up: v, left: left.end + s * rank, right: right.end + s * rank)
      line.setArrival(GapFilling.arrival(v, ear: 0), speaker: s, ear: 0)
      line.setArrival(GapFilling.arrival(v, ear: 1), speaker: s, ear: 1)
    }
  }
}
