// SPDX-License-Identifier: Apache-2.0

extension OptionSpecification {
  /// Help, what is accepted and the default, as whole sentences.
  var sentence: String {
    var text = help
    if let accepted = grammar.reference(beside: placeholder) { text += " Values: \(accepted)." }
    if let defaultText { text += " Default: \(defaultText)." }
    return text
  }
}

extension ArgumentSpecification {
  /// Help and what is accepted.
  var sentence: String {
    grammar.reference(beside: name).map { "\(help) Values: \($0)." } ?? help
  }
}

extension ValueGrammar {
  /// What is accepted, in a few words, or `nil` where the placeholder has said it.
  fileprivate func reference(beside placeholder: String) -> String? {
    switch self {
    case .flag, .text, .axes, .file, .folder, .bitRate: nil
    case .words(let words):
      words.joined(separator: "|") == placeholder ? nil : words.joined(separator: ", ")
    case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
    case .number(let range):
      "\(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))"
    case .list(let element, _): element.reference(beside: placeholder)
    case .either(let words, .text):
      placeholder.hasPrefix(words.joined(separator: "|"))
        ? nil : "\(words.joined(separator: ", ")) or another name"
    case .either(let words, let other):
      other.reference(beside: placeholder).map { "\(words.joined(separator: ", ")) or \($0)" }
    }
  }
}
