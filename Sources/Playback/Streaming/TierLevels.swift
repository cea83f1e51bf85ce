// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// What was learnt of the tiers: how far each lies behind its time stamps, and at which level it is as
/// loud as the one heard first, in the mean of all comparisons.
struct TierLevels {
  private var shifts: [Int: Int] = [:]
  private var levels: [Int: (sum: Double, count: Double)] = [:]
  private var reference: Int?
  private var latest: Int?
  /// dB either way.
  private static let most = 20.0

  /// Frames to be added to a tier's time.
  func shift(of tier: Int) -> Int { shifts[tier] ?? 0 }

  /// dB; of a tier that was never compared that of the one heard last.
  func decibels(of tier: Int) -> Double {
    known(tier) ?? latest.flatMap(known) ?? 0
  }

  private func known(_ tier: Int) -> Double? {
    if tier == reference { return 0 }
    guard let level = levels[tier] else { return nil }
    return min(Self.most, max(-Self.most, level.sum / level.count))
  }

  mutating func move(_ tier: Int, by frames: Int) { shifts[tier, default: 0] += frames }

  mutating func hears(_ tier: Int) {
    reference = reference ?? tier
    latest = tier
  }

  /// A tier was found to be softer than another one, dB, both as they are.
  mutating func compare(_ tier: Int, with other: Int, isSofterBy difference: Double) {
    if tier == reference {
      add(-difference, to: other)
    } else {
      add(decibels(of: other) + difference, to: tier)
    }
  }

  private mutating func add(_ level: Double, to tier: Int) {
    levels[tier, default: (0, 0)].sum += level
    levels[tier]?.count += 1
  }
}

/// A level that goes slowly to where it should be.
struct TierLevel {
  /// dB.
  private(set) var now: Double
  let goal: Double
  /// dB/s: not heard.
  private static let slope = 0.15

  init(at level: Double) { (now, goal) = (level, level) }

  /// Goes to its goal from elsewhere.
  mutating func begin(at level: Double) { now = level }

  /// As a factor.
  var gain: Float { Self.gain(now) }

  private static func gain(_ decibels: Double) -> Float { Float(pow(10, decibels / 20)) }

  mutating func apply(
    to planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, channels: Int, frames: Int,
    sampleRate: Int
  ) {
    guard frames > 0, now != 0 || goal != 0 else { return }
    let step = Self.slope * Double(frames) / Double(sampleRate)
    let end = now + min(step, max(-step, goal - now))
    let (first, last) = (Self.gain(now), Self.gain(end))
    for i in 0..<frames {
      let gain = first + (last - first) * Float(i + 1) / Float(frames)
      for c in 0..<channels { planes[c][i] *= gain }
    }
    now = end
  }
}
