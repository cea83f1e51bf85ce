// SPDX-License-Identifier: Apache-2.0

/// The values that an option or argument accepts.
public indirect enum ValueGrammar: Sendable, Equatable {
  /// No value: the option is a flag.
  case flag
  /// Any text that is not empty.
  case text
  /// x, y and z in any order, each with an optional sign, separated by commas. Case and spaces are
  /// ignored.
  case axes
  /// The path of a file, or a URL if the command accepts one.
  case file
  /// The path of a folder.
  case folder
  /// One of these words.
  case words([String])
  /// An integer in a range.
  case integer(ClosedRange<Int>)
  /// A finite decimal number in a range.
  case number(ClosedRange<Double>)
  /// A rate in bit/s in a range; the suffixes `k` and `M`, in either case, mean thousands and
  /// millions.
  case bitRate(ClosedRange<Double>)
  /// Values separated by commas; `count` limits their number.
  case list(of: ValueGrammar, count: ClosedRange<Int>)
  /// One of the words, or any value that the grammar accepts.
  case either([String], ValueGrammar)

  /// Converts `text` to a value. Returns nil if the grammar does not accept the text.
  public func value(of text: String) -> OptionValue? {
    switch self {
    case .flag: nil
    case .text, .file, .folder: text.isEmpty ? nil : .text(text)
    case .axes: Self.isAxes(text) ? .text(text) : nil
    case .words(let words): words.contains(text) ? .word(text) : nil
    case .integer(let range):
      Int(text).flatMap { range.contains($0) ? .integer($0) : nil }
    case .number(let range):
      Self.decimal(text).flatMap { range.contains($0) ? .number($0) : nil }
    case .bitRate(let range):
      Self.bitRate(text).flatMap { range.contains($0) ? .number($0) : nil }
    case .list(let element, let count): Self.list(text, of: element, count: count)
    case .either(let words, let other):
      words.contains(text) ? .word(text) : other.value(of: text)
    }
  }

  /// The words that a misspelt value is compared with.
  var spelledWords: [String] {
    switch self {
    case .words(let words), .either(let words, _): words
    default: []
    }
  }

  /// The words that completion offers.
  public var words: [String] {
    switch self {
    case .words(let words): words
    case .either(let words, let other): words + other.words
    case .integer(let range) where range.count <= 16: range.map { String($0) }
    default: []
    }
  }

  /// Whether an argument that begins with a single minus sign is taken as a value, as in
  /// `--gain -6`.
  var isNumeric: Bool {
    switch self {
    case .integer, .number, .axes: true
    case .list(let element, _): element.isNumeric
    case .either(_, let other): other.isNumeric
    default: false
    }
  }

  private static func bitRate(_ text: String) -> Double? {
    let factors: [Character: Double] = ["k": 1000, "K": 1000, "M": 1_000_000, "m": 1_000_000]
    guard let factor = text.last.flatMap({ factors[$0] }) else { return decimal(text) }
    return decimal(String(text.dropLast())).map { $0 * factor }
  }

  private static func isAxes(_ text: String) -> Bool {
    let plain = text.lowercased().filter { $0 != " " }
    let parts = plain.split(separator: ",", omittingEmptySubsequences: false)
    let names = parts.map { $0.first == "-" || $0.first == "+" ? $0.dropFirst() : $0 }
    return names.sorted() == ["x", "y", "z"]
  }

  private static func list(
    _ text: String, of element: ValueGrammar, count: ClosedRange<Int>
  ) -> OptionValue? {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let values = parts.compactMap { element.value(of: String($0)) }
    guard values.count == parts.count, count.contains(parts.count) else { return nil }
    return .list(values)
  }

  /// Parses a finite decimal number. Returns nil for other text, including "nan", "inf" and
  /// hexadecimal numbers, which `Double.init` would accept.
  private static func decimal(_ text: String) -> Double? {
    let allowed = text.utf8.allSatisfy { byte in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.eE".utf8.contains(byte)
    }
    guard allowed, let value = Double(text), value.isFinite else { return nil }
    return value
  }
}

extension ValueGrammar {
  /// The accepted values, as the end of a sentence that begins with "it must be".
  public var expectation: String {
    switch self {
    case .flag: "given without a value"
    case .text: "non-empty text"
    case .axes: "x, y and z in any order, each with an optional minus sign, such as y,-x,z"
    case .file: "a path, or a URL if the command accepts one"
    case .folder: "the path of a folder"
    case .words(let words): "one of \(words.joined(separator: ", "))"
    case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .number(let range):
      "a number from \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))"
    case .bitRate(let range):
      "a rate in bit/s from \(Self.plain(range.lowerBound / 1000))k to "
        + "\(Self.plain(range.upperBound / 1_000_000))M, such as 256k or 1.5M"
    case .list(let element, let count): Self.listExpectation(element, count)
    case .either(let words, let other):
      "\(words.joined(separator: ", ")) or \(other.expectation)"
    }
  }

  private static func listExpectation(_ element: ValueGrammar, _ count: ClosedRange<Int>) -> String
  {
    let many =
      count.count == 1 ? "\(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
    return "\(many) values separated by commas, each \(element.expectation)"
  }

  /// Returns a number without a redundant fraction: "6", not "6.0".
  static func plain(_ value: Double) -> String {
    let text = String(value)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}

/// A value that a ``ValueGrammar`` has accepted.
public enum OptionValue: Sendable, Equatable {
  case flag
  case text(String)
  case word(String)
  case integer(Int)
  case number(Double)
  case list([OptionValue])

  var text: String? { if case .text(let text) = self { text } else { nil } }
  var word: String? { if case .word(let word) = self { word } else { nil } }
  var integer: Int? { if case .integer(let number) = self { number } else { nil } }
  var number: Double? { if case .number(let number) = self { number } else { nil } }
  var list: [OptionValue]? { if case .list(let values) = self { values } else { nil } }
}
