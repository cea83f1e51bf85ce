// SPDX-License-Identifier: Apache-2.0

/// A copy of the newest frames in the server's queue, addressed by stream position.
///
/// It is a value that points to memory of its own, which `deallocate` frees.
struct QueueShadow {
  static var channelCount: Int {
    @_noLocks get { 2 }
  }

  /// The number of frames that it holds; a power of two.
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

  /// Stores `frames` interleaved frames at `position`; at most `capacity`.
  @_noLocks
  func store(_ interleaved: UnsafePointer<Float>, position: Int64, frames: Int) {
    for i in 0..<frames {
      let frame = samples + offset(position &+ Int64(i)) * Self.channelCount
      frame[0] = interleaved[2 * i]
      frame[1] = interleaved[2 * i + 1]
    }
  }

  /// Copies `frames` frames, starting at `position`.
  @_noLocks
  func load(_ interleaved: UnsafeMutablePointer<Float>, position: Int64, frames: Int) {
    for i in 0..<frames {
      let frame = frame(position &+ Int64(i))
      interleaved[2 * i] = frame[0]
      interleaved[2 * i + 1] = frame[1]
    }
  }

  /// Returns the frame at `position`.
  @_noLocks
  func frame(_ position: Int64) -> SIMD2<Float> {
    let frame = samples + offset(position) * Self.channelCount
    return SIMD2(frame[0], frame[1])
  }

  @_noLocks
  private func offset(_ position: Int64) -> Int { Int(position) & (capacity - 1) }
}
