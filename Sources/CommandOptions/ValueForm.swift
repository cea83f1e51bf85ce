// SPDX-License-Identifier: Apache-2.0

/// A ``ValueGrammar`` together with the Swift type that its values become.
public struct ValueForm<Value: Sendable>: Sendable {
  let grammar: ValueGrammar
  let convert: @Sendable (OptionValue) -> Value?
}

extension ValueForm where Value == String {
  static var text: Self { Self(grammar: .text, convert: ValueForm.string) }
  static var axes: Self { Self(grammar: .axes, convert: ValueForm.string) }
  static var file: Self { Self(grammar: .file, convert: ValueForm.string) }
  static var folder: Self { Self(grammar: .folder, convert: ValueForm.string) }

  /// Any text; the words are offered by completion and help.
  static func suggested(_ words: [String]) -> Self {
    Self(grammar: .either(words, .text), convert: ValueForm.string)
  }

  private static func string(_ value: OptionValue) -> String? {
    switch value {
    case .text(let text), .word(let text): text
    default: nil
    }
  }
}

extension ValueForm where Value == Int {
  static func integer(_ range: ClosedRange<Int>) -> Self {
    Self(grammar: .integer(range)) { value in
      if case .integer(let number) = value { number } else { nil }
    }
  }
}

extension ValueForm where Value == Double {
  static func number(_ range: ClosedRange<Double>) -> Self {
    Self(grammar: .number(range)) { value in
      if case .number(let number) = value { number } else { nil }
    }
  }

  static func bitRate(_ range: ClosedRange<Double>) -> Self {
    Self(grammar: .bitRate(range)) { value in
      if case .number(let number) = value { number } else { nil }
    }
  }
}

extension ValueForm where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  /// One of the enumeration's raw values.
  static var words: Self {
    Self(grammar: .words(Value.allCases.map(\.rawValue))) { value in
      if case .word(let word) = value { Value(rawValue: word) } else { nil }
    }
  }
}

extension ValueForm where Value == Bool {
  static var onOff: Self {
    Self(grammar: .words(["on", "off"])) { $0 == .word("on") }
  }
}

extension ValueForm where Value == [Int] {
  /// Whole numbers separated by commas.
  static func integers(_ range: ClosedRange<Int>) -> Self {
    Self(grammar: .list(of: .integer(range), count: 1...16)) { value in
      guard case .list(let values) = value else { return nil }
      return values.compactMap { if case .integer(let number) = $0 { number } else { nil } }
    }
  }
}
