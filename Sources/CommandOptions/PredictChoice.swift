// SPDX-License-Identifier: Apache-2.0

/// `--predict`: how far ahead the head is predicted.
public enum PredictChoice: Sendable, Equatable {
  /// By the latency as it is measured.
  case auto
  case off
  /// By so much, whatever the latency.
  case milliseconds(Double)
}

extension ValueForm where Value == PredictChoice {
  static func prediction(_ range: ClosedRange<Double>) -> Self {
    Self(grammar: .either(["auto", "off"], .number(range))) { value in
      switch value {
      case .word("auto"): .auto
      case .word("off"): .off
      case .number(let milliseconds): .milliseconds(milliseconds)
      default: nil
      }
    }
  }
}
