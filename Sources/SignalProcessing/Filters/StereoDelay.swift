// SPDX-License-Identifier: Apache-2.0

/// A delay line for two channels.
public struct StereoDelay: ~Copyable, @unchecked Sendable {
  public let frames: Int
  private let memory: AlignedFloats
  private let position: UnsafeMutablePointer<Int>

  /// Creates a delay of `seconds`, rounded to a whole number of frames, at least one.
  public init(seconds: Double, sampleRate: Double) {
    frames = max(1, Int((seconds * sampleRate).rounded()))
    memory = AlignedFloats(count: 2 * frames)
    position = .allocate(capacity: 1)
    position.initialize(to: 0)
  }

  deinit { position.deallocate() }

  /// Delays `count` frames of both channels in place.
  @_noLocks
  public func process(
    _ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, frames count: Int
  ) {
    var at = position.pointee
    let (l, r) = (memory.pointer, memory.pointer + frames)
    for i in 0..<count {
      (left[i], l[at]) = (l[at], left[i])
      (right[i], r[at]) = (r[at], right[i])
      at = at + 1 == frames ? 0 : at + 1
    }
    position.pointee = at
  }

  @_noLocks
  public func reset() {
    memory.clear()
    position.pointee = 0
  }
}
