// SPDX-License-Identifier: Apache-2.0

/// `--renditions`: which renditions `fetch` takes.
public enum RenditionsChoice: Sendable, Equatable {
  /// The richest multichannel one and the richest stereo one.
  case best
  case all
  /// By their names.
  case named([String])
}

extension ValueForm where Value == RenditionsChoice {
  static var renditions: Self {
    Self(grammar: .either(["best", "all"], .list(of: .text, count: 1...64))) { value in
      switch value {
      case .word("best"): .best
      case .word("all"): .all
      case .list(let names):
        .named(names.compactMap { if case .text(let name) = $0 { name } else { nil } })
      default: nil
      }
    }
  }
}
