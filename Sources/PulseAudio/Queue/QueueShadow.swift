// SPDX-License-Identifier: Apache-2.0

/// A copy of the newest frames written to the server, addressed by stream position.
///
/// The stream position of a frame is the number of frames written before it.
///
/// Copies of this value share the memory that `deallocate` frees.
struct QueueShadow {
  static var channelCount: Int {
    @_noLocks get { 2 }
  }

  /// The number of frames; a power of two.
  let capacity: Int
  private let samples: UnsafeMutablePointer<Float>

  init(frames: Int) {
    var capacity = 1024
    while capacity < frames { capacity *= 2 }
    self.capacity = capacity
    samples = .allocate(capacity: capacity * Self.channelCount)
    samples.initialize(repeating: 0, count: capacity * Self.channelCount)
  }

  func deallocate() { samples.deallocate() }

  /// Stores interleaved stereo frames (at most `capacity`) from stream position `position` on.
  @_noLocks
  func store(_ interleaved: UnsafePointer<Float>, position: Int64, frames: Int) {
    for i in 0..<frames {
      let frame = samples + offset(position &+ Int64(i)) * Self.channelCount
      frame[0] = interleaved[2 * i]
      frame[1] = interleaved[2 * i + 1]
    }
  }

  /// Copies `frames` frames to `interleaved`, starting at stream position `position`.
  @_noLocks
  func load(_ interleaved: UnsafeMutablePointer<Float>, position: Int64, frames: Int) {
    for i in 0..<frames {
      let frame = frame(position &+ Int64(i))
      interleaved[2 * i] = frame[0]
      interleaved[2 * i + 1] = frame[1]
    }
  }

  /// Returns the left and right samples at stream position `position`.
  @_noLocks
  func frame(_ position: Int64) -> SIMD2<Float> {
    let frame = samples + offset(position) * Self.channelCount
    return SIMD2(frame[0], frame[1])
  }

  @_noLocks
  private func offset(_ position: Int64) -> Int { Int(position) & (capacity - 1) }
}
