// SPDX-License-Identifier: Apache-2.0

public import Geometry
private import SignalProcessing

/// Turns a soundfield against the head, on a grid of its own in stream time.
///
/// Matrices are computed for every 16th frame of the stream and ramped between, so that the
/// output depends neither on the size of the calls nor on where they begin.
///
/// ## Threading
/// One caller at a time. `process` does not allocate, lock or wait.
public struct SoundfieldRotator: ~Copyable, @unchecked Sendable {
  /// Frames between two grid points.
  public static let gridFrames = 16

  public let order: Int
  public let channels: Int

  private let rotation: SphericalHarmonicRotation
  private let start: AlignedFloats
  private let slope: AlignedFloats
  private let end: AlignedFloats
  private let state: UnsafeMutablePointer<State>

  private struct State {
    /// Frames of the stream that are done.
    var position = 0
    /// The next grid point whose pose has not been given yet.
    var nextGridPoint = 0
    var lastPose = Quaternion.identity
    var isStill = true

    @_noLocks init() {}
  }

  public init(order: Int) {
    self.order = order
    channels = SphericalHarmonics.channelCount(order: order)
    rotation = SphericalHarmonicRotation(order: order)
    start = AlignedFloats(count: rotation.coefficientCount)
    slope = AlignedFloats(count: rotation.coefficientCount)
    end = AlignedFloats(count: rotation.coefficientCount)
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
    let first = state.pointee.nextGridPoint
    guard frames > 0 else { return first..<first }
    let cell = (state.pointee.position + frames - 1) / Self.gridFrames
    return first..<max(first, cell + 2)
  }

  /// Back to the beginning of a stream.
  @_noLocks
  public func reset() { state.pointee = State() }

  /// Rotates the next frames of the stream.
  ///
  /// - Parameters:
  ///   - input: channels x frames in ACN order, channel after channel `stride` apart; the memory is
  ///     aligned and readable up to the next multiple of 8 frames.
  ///   - output: as the input; not the same memory.
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
      let offset = state.pointee.position % Self.gridFrames
      if offset == 0 { used += beginCell(poses + used) }
      let count = min(Self.gridFrames - offset, frames - done)
      turn(input + done, output + done, stride, count, offset)
      done += count
      state.pointee.position += count
    }
  }

  /// Takes the pose at the end of the cell that begins; at the very start also that of its beginning.
  @_noLocks
  private func beginCell(_ poses: UnsafePointer<Quaternion>) -> Int {
    var taken = 0
    if state.pointee.nextGridPoint == 0 {
      setEnd(poses[0])
      taken = 1
    }
    let count = rotation.coefficientCount
    for i in 0..<count { start.pointer[i] = end.pointer[i] }
    let pose = poses[taken]
    state.pointee.isStill = pose == state.pointee.lastPose
    if !state.pointee.isStill {
      setEnd(pose)
      let scale = 1 / Float(Self.gridFrames)
      for i in 0..<count { slope.pointer[i] = (end.pointer[i] - start.pointer[i]) * scale }
    }
    state.pointee.nextGridPoint += taken + 1
    return taken + 1
  }

  @_noLocks
  private func setEnd(_ pose: Quaternion) {
    rotation.compute(RotationMatrix(pose.conjugate), into: end.pointer)
    state.pointee.lastPose = pose
  }

  @_noLocks
  private func turn(
    _ input: UnsafePointer<Float>, _ output: UnsafeMutablePointer<Float>, _ stride: Int,
    _ frames: Int, _ offset: Int
  ) {
    for i in 0..<frames { output[i] = input[i] }
    var block = 0
    for l in 1...order {
      let (size, first) = (2 * l + 1, l * l)
      for row in 0..<size {
        let target = output + (first + row) * stride
        let source = input + first * stride
        let at = block + row * size
        if state.pointee.isStill {
          mixStill(source, target, stride, size, frames, start.pointer + at)
        } else {
          mixMoving(
            source, target, stride, size, frames, offset, start.pointer + at, slope.pointer + at)
        }
      }
      block += size * size
    }
  }
}

@_noLocks
@inline(__always)
private func load8(_ p: UnsafePointer<Float>) -> SIMD8<Float> {
  SIMD8(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7])
}

@_noLocks
@inline(__always)
private func store(_ v: SIMD8<Float>, _ p: UnsafeMutablePointer<Float>, _ count: Int) {
  if count >= 8 {
    for i in 0..<8 { p[i] = v[i] }
  } else {
    for i in 0..<count { p[i] = v[i] }
  }
}

/// One output row: the sum of `size` inputs with fixed gains.
@_noLocks
private func mixStill(
  _ source: UnsafePointer<Float>, _ target: UnsafeMutablePointer<Float>, _ stride: Int,
  _ size: Int, _ frames: Int, _ gains: UnsafePointer<Float>
) {
  var n = 0
  while n < frames {
    var sum = SIMD8<Float>(repeating: 0)
    for j in 0..<size { sum += load8(source + j * stride + n) * gains[j] }
    store(sum, target + n, frames - n)
    n += 8
  }
}

/// One output row: the sum of `size` inputs with gains that change linearly from frame to frame.
@_noLocks
private func mixMoving(
  _ source: UnsafePointer<Float>, _ target: UnsafeMutablePointer<Float>, _ stride: Int,
  _ size: Int, _ frames: Int, _ offset: Int, _ gains: UnsafePointer<Float>,
  _ slopes: UnsafePointer<Float>
) {
  let ramp = SIMD8<Float>(0, 1, 2, 3, 4, 5, 6, 7)
  var n = 0
  while n < frames {
    var sum = SIMD8<Float>(repeating: 0)
    var change = SIMD8<Float>(repeating: 0)
    for j in 0..<size {
      let x = load8(source + j * stride + n)
      sum += x * gains[j]
      change += x * slopes[j]
    }
    store(sum + change * (ramp + Float(offset + n)), target + n, frames - n)
    n += 8
  }
}
