// SPDX-License-Identifier: Apache-2.0

/// `--loudness`: what every source is brought to.
public enum LoudnessChoice: Sendable, Equatable {
  case off
  /// LUFS.
  case target(Double)

  /// LUFS; nil where sources stay as they are.
  public var target: Double? {
    if case .target(let loudness) = self { loudness } else { nil }
  }
}

extension ValueForm where Value == LoudnessChoice {
  static func loudness(_ range: ClosedRange<Double>) -> Self {
    Self(grammar: .either(["off"], .number(range))) { value in
      switch value {
      case .word("off"): .off
      case .number(let loudness): .target(loudness)
      default: nil
      }
    }
  }
}
