// SPDX-License-Identifier: Apache-2.0

extension ValueGrammar {
  /// What is accepted, as the end of a sentence that begins "it must be".
  public var expectation: String {
    switch self {
    case .flag: "given without a value"
    case .text: "some text"
    case .axes: "x, y and z once each, with or without a minus sign, such as y,-x,z"
    case .file: "a path or URL"
    case .folder: "the path of a folder"
    case .words(let words): "one of \(words.joined(separator: ", "))"
    case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .number(let range):
      "a number from \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))"
    case .bitRate(let range):
      "bits a second from \(Self.plain(range.lowerBound / 1000))k to "
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

  /// A number as people write it: "6", not "6.0".
  static func plain(_ value: Double) -> String {
    let text = String(value)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
