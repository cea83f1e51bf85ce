// SPDX-License-Identifier: Apache-2.0

public import Geometry
public import SignalProcessing

/// Turns a soundfield against the head, on a grid of its own in stream time.
///
/// Matrices are computed for every 16th frame of the stream and ramped between (in a parabola where the
/// head turns very fast), so that the output depends neither on the size of the calls nor on where
/// they begin.
///
/// ## Threading
/// One caller at a time. `process` does not allocate, lock or wait.
public struct SoundfieldRotator: ~Copyable, @unchecked Sendable {
  /// Frames between two grid points.
  public static var gridFrames: Int {
    @_noLocks get { 16 }
  }

  public let order: Int
  public let channels: Int

  private let set: InstructionSet
  private let rotation: SphericalHarmonicRotation
  private let start: AlignedFloats
  private let slope: AlignedFloats
  private let end: AlignedFloats
  private let curve: AlignedFloats
  private let state: UnsafeMutablePointer<State>

  private enum Motion {
    case still
    case even
    case bent
  }

  private struct State {
    var grid = GridState()
    var motion = Motion.still

    @_noLocks init() {}
  }

  public init(order: Int, set: InstructionSet = .current) {
    self.order = order
    self.set = set
    channels = SphericalHarmonics.channelCount(order: order)
    rotation = SphericalHarmonicRotation(order: order, set: set)
    start = AlignedFloats(count: rotation.coefficientCount)
    slope = AlignedFloats(count: rotation.coefficientCount)
    end = AlignedFloats(count: rotation.coefficientCount)
    curve = AlignedFloats(count: rotation.coefficientCount)
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit { state.deallocate() }

  /// The grid points whose poses the next `frames` frames need, in order.
  ///
  /// Point g lies at frame 16 g of the stream. At the start of a stream two points are needed for
  /// the first frame, later one for every cell begun.
  @_noLocks
  public func gridPoints(forNext frames: Int) -> Range<Int> {
    state.pointee.grid.gridPoints(forNext: frames)
  }

  /// Back to the beginning of a stream.
  @_noLocks
  public func reset() { state.pointee = State() }

  /// Where it stands on the grid; set, it goes on from there.
  public var gridState: GridState {
    @_noLocks get { state.pointee.grid }
    @_noLocks nonmutating set {
      if newValue.nextPoint > 0 {
        setEnd(newValue.cellStart)
        state.pointee.grid.cellEnd = newValue.cellStart
        enterCell(to: newValue.cellEnd)
      }
      state.pointee.grid = newValue
    }
  }

  /// Frames of the present grid cell that are done: 0 to 15.
  public var phase: Int {
    @_noLocks get { state.pointee.grid.phase }
  }

  /// Rotates the next frames of the stream.
  ///
  /// - Parameters:
  ///   - input: channels in ACN order, `stride` apart; the next frame is at index `phase` and those
  ///     before it are of no account. The memory is aligned to 64 bytes and readable up to the
  ///     next multiple of 16 frames.
  ///   - output: laid out as the input; not the same memory.
  ///   - stride: floats from one channel to the next, a multiple of 16.
  ///   - frames: frames to do.
  ///   - poses: head poses `headToWorld` for `gridPoints(forNext: frames)`.
  @_noLocks
  public func process(
    input: UnsafePointer<Float>, output: UnsafeMutablePointer<Float>, stride: Int, frames: Int,
    poses: UnsafePointer<Quaternion>
  ) {
    var (cell, done, used) = (0, 0, 0)
    while done < frames {
      let offset = phase
      if offset == 0 { used += beginCell(poses + used) }
      let count = min(Self.gridFrames - offset, frames - done)
      turn(input + cell, output + cell, stride, offset + count)
      cell += Self.gridFrames
      done += count
      state.pointee.grid.position += count
    }
  }

  /// Takes the pose at the end of the cell that begins; at the very start also that of its beginning.
  @_noLocks
  private func beginCell(_ poses: UnsafePointer<Quaternion>) -> Int {
    var taken = 0
    if state.pointee.grid.isAtStart {
      setEnd(poses[0])
      state.pointee.grid.cellEnd = poses[0]
      taken = 1
    }
    enterCell(to: poses[taken])
    state.pointee.grid.nextPoint += taken + 1
    return taken + 1
  }

  /// From the last cell's end to the next pose.
  @_noLocks
  private func enterCell(to pose: Quaternion) {
    let count = rotation.coefficientCount
    for i in 0..<count { start.pointer[i] = end.pointer[i] }
    let previous = state.pointee.grid.cellEnd
    state.pointee.grid.enterCell(to: pose)
    state.pointee.motion = .still
    if state.pointee.grid.isStill { return }
    setEnd(pose)
    let scale = 1 / Float(Self.gridFrames)
    for i in 0..<count { slope.pointer[i] = (end.pointer[i] - start.pointer[i]) * scale }
    state.pointee.motion = isFast(previous, pose) ? .bent : .even
    if case .bent = state.pointee.motion { bend(previous, pose) }
  }

  /// Where a straight line between the matrices would be heard: more than 0.02 rad of the highest
  /// degree's phase in a cell (first order: 3400 degrees a second).
  @_noLocks
  private func isFast(_ a: Quaternion, _ b: Quaternion) -> Bool {
    let cosine = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z
    let phase = Double(2 * order)
    return phase * phase * (1 - cosine * cosine) > 0.02 * 0.02
  }

  /// The parabola through the matrix of the pose half way.
  @_noLocks
  private func bend(_ a: Quaternion, _ b: Quaternion) {
    rotation.compute(RotationMatrix(.slerp(a, b, 0.5).conjugate), into: curve.pointer)
    for i in 0..<rotation.coefficientCount {
      let chord = 0.5 * (start.pointer[i] + end.pointer[i])
      curve.pointer[i] = 4 * (curve.pointer[i] - chord)
    }
  }

  @_noLocks
  private func setEnd(_ pose: Quaternion) {
    rotation.compute(RotationMatrix(pose.conjugate), into: end.pointer)
  }

  /// From the beginning of a cell.
  @_noLocks
  private func turn(
    _ input: UnsafePointer<Float>, _ output: UnsafeMutablePointer<Float>, _ stride: Int,
    _ frames: Int
  ) {
    for i in 0..<frames { output[i] = input[i] }
    var (moves, bends) = (true, false)
    switch state.pointee.motion {
    case .still: moves = false
    case .even: break
    case .bent: bends = true
    }
    var block = 0
    for l in 1...order {
      let (size, first) = (2 * l + 1, l * l * stride)
      set.turnDegree(
        input + first, output + first, stride: stride, size: size, frames: frames,
        gains: start.pointer + block, slopes: moves ? slope.pointer + block : nil,
        curves: bends ? curve.pointer + block : nil)
      block += size * size
    }
  }
}
