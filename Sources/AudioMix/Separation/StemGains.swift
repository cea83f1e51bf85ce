// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// The gates of the sources, which close in pauses, and the expander of the `studio` style.
struct StemGains {
  private var held = InlineArray<3, Float>(repeating: -100)
  private var heldIdentity = InlineArray<3, Int>(repeating: 0)
  private var level: Float = 0
  private var loudest: Float = 0
  private let settings: SeparationSettings
  private let fall: Float
  private let newestLevel: Float
  private let loudestKeep: Float

  init(hop: Double, settings: SeparationSettings) {
    self.settings = settings
    fall = Float(settings.gateFall * hop)
    newestLevel = newestWeight(hop, 0.02)
    loudestKeep = Float(realtime_exp(-hop * settings.loudestFall * 0.230_258_5))
  }

  mutating func reset() {
    for k in 0..<3 { held[k] = -100 }
    (level, loudest) = (0, 0)
  }

  /// Returns how far the gate of a source is open, 0 to 1. The gate opens at once and closes
  /// gradually.
  mutating func opening(slot: Int, identity: Int, power: Float, noise: Float) -> Float {
    if heldIdentity[slot] != identity {
      heldIdentity[slot] = identity
      held[slot] = -100
    }
    let ratio = decibels((power + 1e-14) / (noise + 1e-13))
    held[slot] = max(ratio, held[slot] - fall)
    return ramp(held[slot], settings.gateRange)
  }

  /// Takes the power of the talkers in the next analysis frame, and returns the gain of the
  /// expander as a factor.
  mutating func expansion(power: Float) -> Float {
    level += (power - level) * newestLevel
    loudest = max(loudest * loudestKeep, power)
    let below = decibels((level + 1e-18) / (loudest + 1e-18)) - settings.expanderThreshold
    let reduction = min(settings.expanderDepth, max(0, -below * settings.expanderSlope))
    return Float(realtime_exp(Double(-reduction) * 0.115_129_25))
  }
}
