// SPDX-License-Identifier: Apache-2.0

/// Fades the sound out before a dropout and in after it. A dropout is inserted silence, or a frame
/// with a NaN, infinite or out-of-range sample, which is muted in all channels.
///
/// It works before the resampler, which would spread a NaN over the length of its filter. It sees
/// complete codec frames, so it can fade ahead of a dropout. `SignalProcessing.FiniteGuard`
/// protects the renderer; it has no look-ahead and does not handle inserted silence.
struct DropoutFader {
  /// The samples that were muted.
  struct Muted {
    var count = 0
    /// Index of the first frame that has a muted sample.
    var first = Int.max
  }

  /// +80 dB relative to full scale.
  static let limit: Float = 10_000
  static let fadeFrames = 32

  private var framesSinceSilence = Self.fadeFrames

  /// Declares that the next frames follow inserted silence.
  mutating func noteSilence() { framesSinceSilence = 0 }

  /// Declares that the next frames follow a seek.
  mutating func reset() { framesSinceSilence = Self.fadeFrames }

  mutating func apply(to queue: PlanarQueue) -> Muted {
    guard queue.count > 0, framesSinceSilence < Self.fadeFrames || !queue.isWithin(Self.limit)
    else { return Muted() }
    var muted = Muted()
    /// Distance of each frame from the nearest dropout, in frames.
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
