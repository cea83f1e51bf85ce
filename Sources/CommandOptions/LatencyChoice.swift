// SPDX-License-Identifier: Apache-2.0

/// `--latency`: how deep the sound server's queue is.
public enum LatencyChoice: Sendable, Equatable {
  /// The player's own choice: 40-200 ms, deeper after an underrun.
  case auto
  case milliseconds(Double)
}

extension ValueForm where Value == LatencyChoice {
  static func latency(_ range: ClosedRange<Double>) -> Self {
    Self(grammar: .either(["auto"], .number(range))) { value in
      switch value {
      case .word("auto"): .auto
      case .number(let milliseconds): .milliseconds(milliseconds)
      default: nil
      }
    }
  }
}
