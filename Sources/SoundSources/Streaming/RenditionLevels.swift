// SPDX-License-Identifier: Apache-2.0

private import Glibc
internal import Rendering

/// How loud a piece of sound is as it is heard, LUFS: with low-frequency effects and without, which
/// may be silence.
struct HeardLoudness {
  var whole: Double
  var mains: Double

  /// The power of the effects alone, of which nothing else knows.
  var effects: Double { max(0, pow(10, whole / 10) - pow(10, mains / 10)) }
}

/// What was learnt of the renditions: how far each lies behind its time stamps, and at which level
/// it is as loud as the one heard first, in the mean of all comparisons.
struct RenditionLevels {
  private var shifts: [Int: Int] = [:]
  private var whole = Means()
  private var mains = Means()
  private var latest: Int?
  /// dB by which a soft programme is made louder than in the mean: the effects may have been a
  /// bang.
  private static let mostExcess = 3.0

  /// Frames to be added to a rendition's time.
  func shift(of rendition: Int) -> Int { shifts[rendition] ?? 0 }

  /// dB; of a rendition that was never compared that of the one heard last.
  func decibels(of rendition: Int) -> Double {
    whole.decibels(of: rendition) ?? latest.flatMap(whole.decibels) ?? 0
  }

  /// The level at which a rendition without low-frequency effects goes on as loud as one that has
  /// them would, if its effects went on as they were; nil where the two were never compared.
  ///
  /// - Parameters:
  ///   - coming: how loud the rendition is in the time that comes, as it is.
  ///   - past: how loud the other one was, as it was given.
  ///   - level: at which it was given, dB.
  func decibels(
    of rendition: Int, coming: HeardLoudness, after other: Int, past: HeardLoudness,
    at level: Double
  ) -> Double? {
    guard let own = mains.decibels(of: rendition), let its = mains.decibels(of: other) else {
      return nil
    }
    let wanted = pow(10, (coming.mains + own - its + level) / 10) + past.effects
    guard wanted > 0 else { return nil }
    let usual = carried(to: rendition, from: other, at: level)
    return min(usual + Self.mostExcess, Means.limited(10 * log10(wanted) - coming.whole))
  }

  /// The level at which a rendition goes on as loud in the mean as another one was.
  func carried(to rendition: Int, from other: Int, at level: Double) -> Double {
    decibels(of: rendition) + level - decibels(of: other)
  }

  mutating func move(_ rendition: Int, by frames: Int) { shifts[rendition, default: 0] += frames }

  mutating func hears(_ rendition: Int) {
    whole.reference = whole.reference ?? rendition
    mains.reference = mains.reference ?? rendition
    latest = rendition
  }

  /// How loud a rendition was found to be, and another one in the same time at a level, dB.
  mutating func compare(
    _ rendition: Int, _ loudness: HeardLoudness, with other: Int, _ its: HeardLoudness,
    at level: Double
  ) {
    whole.compare(rendition, loudness.whole, with: other, its.whole, at: level)
    mains.compare(rendition, loudness.mains, with: other, its.mains, at: level)
  }

  /// Levels in the mean of all comparisons.
  private struct Means {
    /// The rendition whose level is 0 dB.
    var reference: Int?
    private var levels: [Int: (sum: Double, count: Double)] = [:]
    /// dB either way.
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

/// A level that goes slowly to where it should be, once a change has been heard.
struct RenditionLevel {
  /// dB.
  private(set) var now: Double
  let goal: Double
  /// dB/s: not heard.
  private static let slope = 0.15
  /// s until it begins to go.
  private var rest = 0.0

  init(at level: Double) { (now, goal) = (level, level) }

  /// Goes to its goal from elsewhere, where it stays for some seconds.
  mutating func begin(at level: Double, seconds: Double) { (now, rest) = (level, seconds) }

  /// As a factor.
  var gain: Float { Self.gain(now) }

  private static func gain(_ decibels: Double) -> Float { Float(pow(10, decibels / 20)) }

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
