// SPDX-License-Identifier: Apache-2.0

/// A ``ValueGrammar`` together with the Swift type of its values.
public struct ValueForm<Value: Sendable>: Sendable {
  let grammar: ValueGrammar
  let convert: @Sendable (OptionValue) -> Value?

  /// Returns a form that accepts `words` and the values of `grammar`. `convert` converts the values
  /// of `grammar`.
  static func either(
    _ words: KeyValuePairs<String, Value>, or grammar: ValueGrammar,
    _ convert: @escaping @Sendable (OptionValue) -> Value?
  ) -> Self {
    Self(grammar: .either(words.map(\.key), grammar)) { value in
      guard let word = value.word else { return convert(value) }
      return words.first { $0.key == word }?.value
    }
  }
}

extension ValueForm where Value == String {
  package static var text: Self { Self(grammar: .text, convert: \.text) }
  static var axes: Self { Self(grammar: .axes, convert: \.text) }
  static var file: Self { Self(grammar: .file, convert: \.text) }
  static var folder: Self { Self(grammar: .folder, convert: \.text) }

  static func words(_ words: [String]) -> Self { Self(grammar: .words(words)) { $0.word } }

  /// Returns a form that accepts any text that is not empty. Completion offers `words`.
  static func suggested(_ words: [String]) -> Self {
    Self(grammar: .either(words, .text)) { $0.text ?? $0.word }
  }
}

extension ValueForm where Value == Int {
  static func integer(_ range: ClosedRange<Int>) -> Self {
    Self(grammar: .integer(range), convert: \.integer)
  }
}

extension ValueForm where Value == Double {
  package static func number(_ range: ClosedRange<Double>) -> Self {
    Self(grammar: .number(range), convert: \.number)
  }

  static func bitRate(_ range: ClosedRange<Double>) -> Self {
    Self(grammar: .bitRate(range), convert: \.number)
  }
}

extension ValueForm where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  /// A form that accepts the enumeration's raw values.
  static var words: Self {
    Self(grammar: .words(Value.allCases.map(\.rawValue))) { $0.word.flatMap(Value.init) }
  }
}

extension ValueForm where Value == Bool {
  static var onOff: Self {
    Self(grammar: .words(["on", "off"])) { $0 == .word("on") }
  }
}

extension ValueForm where Value == [Int] {
  /// Returns a form that accepts a list of 1 to 16 integers in `range`, separated by commas.
  static func integers(_ range: ClosedRange<Int>) -> Self {
    Self(grammar: .list(of: .integer(range), count: 1...16)) { $0.list?.compactMap(\.integer) }
  }
}
