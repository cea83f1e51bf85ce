// SPDX-License-Identifier: Apache-2.0

private import Glibc
internal import Rendering

/// The loudness of a short sound as the listener hears it, with and without its low-frequency
/// effects.
struct HeardLoudness {
  /// The loudness with low-frequency effects, in LUFS.
  var whole: Double
  /// The loudness without low-frequency effects, in LUFS; -infinity if the other channels are
  /// silent.
  var mains: Double

  /// The power of the low-frequency effects, on a scale where 0 LUFS is a power of 1.
  var effects: Double { max(0, pow(10, whole / 10) - pow(10, mains / 10)) }
}

/// The shift of each rendition relative to its timestamps, and the level at which it is as loud as
/// the rendition that was played first.
struct RenditionLevels {
  private var shifts: [Int: Int] = [:]
  private var whole = Means()
  private var mains = Means()
  private var latest: Int?
  /// The largest rise of a level above the result of `carried` to make up for missing low-frequency
  /// effects, in dB.
  private static let mostExcess = 3.0

  /// Returns the number of frames to add to a rendition's timestamps; 0 if no shift is known.
  func shift(of rendition: Int) -> Int { shifts[rendition] ?? 0 }

  /// Returns a rendition's level, in dB. If it is unknown, returns the level of the rendition that
  /// was played last; 0 dB if that is unknown too.
  func decibels(of rendition: Int) -> Double {
    whole.decibels(of: rendition) ?? latest.flatMap(whole.decibels) ?? 0
  }

  /// Returns the level, in dB, for a rendition without low-frequency effects that follows a
  /// rendition with them. The level makes up for the missing effects, but exceeds the result of
  /// `carried` by at most `mostExcess`. Returns nil if it cannot be computed.
  ///
  /// - Parameters:
  ///   - coming: the loudness of the next frames of `rendition` at 0 dB.
  ///   - past: the loudness of the last frames of `other`, as they were played.
  ///   - level: the level at which `other` was played, in dB.
  func decibels(
    of rendition: Int, coming: HeardLoudness, after other: Int, past: HeardLoudness,
    at level: Double
  ) -> Double? {
    guard let own = mains.decibels(of: rendition), let its = mains.decibels(of: other) else {
      return nil
    }
    // The power of the main channels at the matching level plus the power of the past effects.
    let wanted = pow(10, (coming.mains + own - its + level) / 10) + past.effects
    guard wanted > 0 else { return nil }
    let usual = carried(to: rendition, from: other, at: level)
    return min(usual + Self.mostExcess, Means.limited(10 * log10(wanted) - coming.whole))
  }

  /// Returns the level at which a rendition is on average as loud as `other` at `level`, in dB.
  func carried(to rendition: Int, from other: Int, at level: Double) -> Double {
    decibels(of: rendition) + level - decibels(of: other)
  }

  mutating func move(_ rendition: Int, by frames: Int) { shifts[rendition, default: 0] += frames }

  /// Records which rendition is being played. The first rendition becomes the reference, whose
  /// level is 0 dB.
  mutating func hears(_ rendition: Int) {
    whole.reference = whole.reference ?? rendition
    mains.reference = mains.reference ?? rendition
    latest = rendition
  }

  /// Compares two renditions over the same time. `loudness` is the loudness of `rendition` at 0 dB.
  /// `its` is the loudness of `other` at `level`, which is in dB.
  mutating func compare(
    _ rendition: Int, _ loudness: HeardLoudness, with other: Int, _ its: HeardLoudness,
    at level: Double
  ) {
    whole.compare(rendition, loudness.whole, with: other, its.whole, at: level)
    mains.compare(rendition, loudness.mains, with: other, its.mains, at: level)
  }

  /// The level of each rendition, averaged over all comparisons.
  private struct Means {
    /// The rendition whose level is 0 dB.
    var reference: Int?
    private var levels: [Int: (sum: Double, count: Double)] = [:]
    /// The largest magnitude of a level, in dB.
    private static let most = 20.0

    static func limited(_ level: Double) -> Double { min(most, max(-most, level)) }

    func decibels(of rendition: Int) -> Double? {
      if rendition == reference { return 0 }
      return levels[rendition].map { Self.limited($0.sum / $0.count) }
    }

    mutating func compare(
      _ rendition: Int, _ loudness: Double, with other: Int, _ its: Double, at level: Double
    ) {
      let difference = its - level - loudness
      guard difference.isFinite else { return }
      if rendition == reference {
        add(-difference, to: other)
      } else {
        add((decibels(of: other) ?? level) + difference, to: rendition)
      }
    }

    private mutating func add(_ level: Double, to rendition: Int) {
      levels[rendition, default: (0, 0)].sum += level
      levels[rendition]?.count += 1
    }
  }
}

/// A level that stays constant for some time and then moves slowly to its goal.
struct RenditionLevel {
  /// The current level, in dB.
  private(set) var now: Double
  /// The level to reach, in dB.
  let goal: Double
  /// The rate of change, in dB/s.
  private static let slope = 0.15
  /// The time until the level begins to move, in seconds.
  private var rest = 0.0

  init(at level: Double) { (now, goal) = (level, level) }

  /// Sets the current level, which stays constant for `seconds` and then moves to the goal.
  mutating func begin(at level: Double, seconds: Double) { (now, rest) = (level, seconds) }

  /// The current level as a linear factor.
  var gain: Float { Self.gain(now) }

  private static func gain(_ decibels: Double) -> Float { Float(pow(10, decibels / 20)) }

  /// Applies the level to the next frames, in place, and moves it towards the goal.
  mutating func apply(
    to planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, channels: Int, frames: Int,
    sampleRate: Int
  ) {
    guard frames > 0, now != 0 || goal != 0 else { return }
    let seconds = Double(frames) / Double(sampleRate)
    let step = Self.slope * max(0, seconds - rest)
    rest = max(0, rest - seconds)
    let end = now + min(step, max(-step, goal - now))
    let (first, last) = (Self.gain(now), Self.gain(end))
    for i in 0..<frames {
      let gain = first + (last - first) * Float(i + 1) / Float(frames)
      for c in 0..<channels { planes[c][i] *= gain }
    }
    now = end
  }
}
