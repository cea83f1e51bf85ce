// SPDX-License-Identifier: Apache-2.0

/// `--tracker`: which head tracker turns the stage.
public enum TrackerChoice: Sendable, Equatable {
  /// The first tracker there is, and any that comes later.
  case auto
  case none
  /// The tracker that `stillstage trackers` lists by this name.
  case id(String)
}

extension ValueForm where Value == TrackerChoice {
  static var tracker: Self {
    Self(grammar: .either(["auto", "none"], .text)) { value in
      switch value {
      case .word("auto"): .auto
      case .word("none"): TrackerChoice.none
      case .text(let id): .id(id)
      default: nil
      }
    }
  }
}
