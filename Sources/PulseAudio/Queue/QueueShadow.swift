// SPDX-License-Identifier: Apache-2.0

/// The newest frames of a stream as they stand in the server's queue, addressed by stream position.
///
/// A value that points to memory of its own; `deallocate` gives it back.
struct QueueShadow {
  static var channelCount: Int {
    @_noLocks get { 2 }
  }

  /// Frames; a power of two.
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

  /// Keeps `frames` interleaved frames that stand at `position`, no more than the capacity.
  @_noLocks
  func store(_ interleaved: UnsafePointer<Float>, position: Int64, frames: Int) {
    for i in 0..<frames {
      let frame = samples + offset(position &+ Int64(i)) * Self.channelCount
      frame[0] = interleaved[2 * i]
      frame[1] = interleaved[2 * i + 1]
    }
  }

  /// Copies `frames` frames from `position` on.
  @_noLocks
  func load(_ interleaved: UnsafeMutablePointer<Float>, position: Int64, frames: Int) {
    for i in 0..<frames {
      let frame = frame(position &+ Int64(i))
      interleaved[2 * i] = frame[0]
      interleaved[2 * i + 1] = frame[1]
    }
  }

  /// The frame at `position`.
  @_noLocks
  func frame(_ position: Int64) -> SIMD2<Float> {
    let frame = samples + offset(position) * Self.channelCount
    return SIMD2(frame[0], frame[1])
  }

  @_noLocks
  private func offset(_ position: Int64) -> Int { Int(position) & (capacity - 1) }
}
