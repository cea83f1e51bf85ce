// SPDX-License-Identifier: Apache-2.0

/// Mutes what cannot be sound. A frame with a NaN, an infinity or a sample beyond `limit` is
/// silenced in all channels, and its neighbours are faded over `fadeFrames`, so that neither a
/// burst nor a click comes of it. Also fades in after silence that was put in.
struct FiniteGuard {
  /// +80 dB of full scale.
  static let limit: Float = 10_000
  static let fadeFrames = 32

  private var framesSinceSilence = Self.fadeFrames

  /// The next frames come after a gap.
  mutating func noteSilence() { framesSinceSilence = 0 }

  /// The next frames come after a jump.
  mutating func reset() { framesSinceSilence = Self.fadeFrames }

  /// Guards the frames of `queue` from index `start` on; returns how many samples were invalid
  /// and the first one's frame index.
  mutating func apply(to queue: PlanarQueue, from start: Int) -> (count: Int, first: Int) {
    let frames = queue.count - start
    guard frames > 0 else { return (0, start) }
    var count = 0
    for channel in 0..<queue.channels {
      count += Self.invalidCount(queue.plane(channel) + start, frames)
    }
    guard count > 0 || framesSinceSilence < Self.fadeFrames else { return (0, start) }
    let first = fade(queue, start, frames)
    return (count, start + first)
  }

  /// The largest magnitude in the frames of `queue` from index `start` on, invalid ones included.
  static func peak(of queue: PlanarQueue, from start: Int) -> Float {
    var peak: Float = 0
    for channel in 0..<queue.channels {
      let plane = queue.plane(channel)
      for index in start..<queue.count where !(abs(plane[index]) <= peak) {
        peak = plane[index].isNaN ? .infinity : abs(plane[index])
      }
    }
    return peak
  }

  private static func invalidCount(_ plane: UnsafeMutablePointer<Float>, _ frames: Int) -> Int {
    var count = 0
    var index = 0
    while index < frames {
      // False for NaN too.
      if !(abs(plane[index]) <= limit) { count &+= 1 }
      index &+= 1
    }
    return count
  }

  private mutating func fade(_ queue: PlanarQueue, _ start: Int, _ frames: Int) -> Int {
    var distance = [Int](repeating: Self.fadeFrames, count: frames)
    var first = frames
    for channel in 0..<queue.channels {
      let plane = queue.plane(channel) + start
      for index in 0..<frames where !(abs(plane[index]) <= Self.limit) {
        distance[index] = 0
        first = min(first, index)
      }
    }
    for index in 0..<frames {
      if distance[index] > 0 {
        distance[index] = min(distance[index], framesSinceSilence + 1)
      }
      framesSinceSilence = distance[index]
    }
    for index in stride(from: frames - 2, through: 0, by: -1) {
      distance[index] = min(distance[index], distance[index + 1] + 1)
    }
    for channel in 0..<queue.channels {
      let plane = queue.plane(channel) + start
      for index in 0..<frames where distance[index] < Self.fadeFrames {
        let gain = Float(distance[index]) / Float(Self.fadeFrames)
        plane[index] = distance[index] == 0 ? 0 : plane[index] * gain
      }
    }
    return first
  }
}
