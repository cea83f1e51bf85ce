// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// What was learnt of the tiers: how far each lies behind its time stamps, and the gain that makes it as
/// loud as the first one.
struct TierLevels {
  private var shifts: [Int: Int] = [:]
  private var gains: [Int: Double] = [:]
  private var latest: Int?
  /// dB either way.
  private static let most = 20.0

  /// Frames to be added to a tier's time.
  func shift(of tier: Int) -> Int { shifts[tier] ?? 0 }

  /// dB; of a tier that was never compared that of the one heard last.
  func decibels(of tier: Int) -> Double {
    gains[tier] ?? latest.flatMap { gains[$0] } ?? 0
  }

  /// Linear.
  func gain(of tier: Int) -> Float { Float(pow(10, decibels(of: tier) / 20)) }

  mutating func move(_ tier: Int, by frames: Int) { shifts[tier, default: 0] += frames }

  mutating func hears(_ tier: Int) {
    if gains.isEmpty { gains[tier] = 0 }
    latest = tier
  }

  mutating func set(_ tier: Int, decibels: Double) {
    gains[tier] = min(Self.most, max(-Self.most, decibels))
  }

  static func decibels(_ gain: Float) -> Double { 20 * log10(Double(max(gain, 1e-6))) }
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
