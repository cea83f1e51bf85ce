// SPDX-License-Identifier: Apache-2.0

/// Mutes frames in which a sample is NaN, infinite or out of range, with fades around them. Also
/// fades in after inserted silence.
///
/// Apply the fader before resampling, which would spread a NaN. Frames that have already left the
/// queue are not faded out.
struct DropoutFader {
  struct Muted {
    /// The number of invalid samples in all channels.
    var count = 0
    /// The index in the queue of the first frame with an invalid sample; `Int.max` if no sample is
    /// invalid.
    var first = Int.max
  }

  /// The largest valid magnitude of a sample (+80 dBFS).
  static let limit: Float = 10_000
  static let fadeFrames = 32

  private var framesSinceSilence = Self.fadeFrames

  /// Declares that the next frames follow inserted silence.
  mutating func noteSilence() { framesSinceSilence = 0 }

  /// Declares that the next frames follow a seek and need no fade-in.
  mutating func reset() { framesSinceSilence = Self.fadeFrames }

  mutating func apply(to queue: PlanarQueue) -> Muted {
    guard queue.count > 0, framesSinceSilence < Self.fadeFrames || !queue.isWithin(Self.limit)
    else { return Muted() }
    var muted = Muted()
    /// The distance, in frames, from each frame to the nearest muted frame or inserted silence; at
    /// most `fadeFrames`.
    var distance = [Int](repeating: Self.fadeFrames, count: queue.count)
    for channel in 0..<queue.channels {
      let plane = queue.plane(channel)
      // The comparison is false for NaN too.
      for index in distance.indices where !(abs(plane[index]) <= Self.limit) {
        distance[index] = 0
        muted.count += 1
        muted.first = min(muted.first, index)
      }
    }
    for index in distance.indices {
      distance[index] = min(distance[index], framesSinceSilence + 1)
      framesSinceSilence = distance[index]
    }
    for index in distance.indices.dropLast().reversed() {
      distance[index] = min(distance[index], distance[index + 1] + 1)
    }
    for channel in 0..<queue.channels {
      let plane = queue.plane(channel)
      for index in distance.indices where distance[index] < Self.fadeFrames {
        let gain = Float(distance[index]) / Float(Self.fadeFrames)
        plane[index] = distance[index] == 0 ? 0 : plane[index] * gain
      }
    }
    return muted
  }
}
