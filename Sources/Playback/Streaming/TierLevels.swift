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
  var goal: Double
  /// dB/s: not heard.
  private static let slope = 0.15

  init(now: Double) { (self.now, goal) = (now, now) }

  mutating func apply(
    to planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, channels: Int, frames: Int,
    sampleRate: Int
  ) {
    guard frames > 0, now != 0 || goal != 0 else { return }
    let step = Self.slope * Double(frames) / Double(sampleRate)
    let end = now + min(step, max(-step, goal - now))
    let (first, last) = (Float(pow(10, now / 20)), Float(pow(10, end / 20)))
    for i in 0..<frames {
      let gain = first + (last - first) * Float(i + 1) / Float(frames)
      for c in 0..<channels { planes[c][i] *= gain }
    }
    now = end
  }
}

/// Times and numbers as the listener is told them.
enum StreamText {
  static func clock(_ seconds: Double) -> String {
    let whole = Int(max(0, seconds))
    let rest = whole % 60
    return "\(whole / 60):\(rest < 10 ? "0" : "")\(rest)"
  }

  static func decimal(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let rest = hundredths % 100
    return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
  }
}
