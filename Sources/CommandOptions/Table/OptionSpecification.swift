// SPDX-License-Identifier: Apache-2.0

/// One row of the option table.
public struct OptionSpecification: Sendable, Equatable {
  /// The long name, without its dashes.
  public let name: String
  public let short: Character?
  /// What stands for the value in help and errors; empty for a flag.
  public let placeholder: String
  public let grammar: ValueGrammar
  /// The default as help shows it, or `nil` where leaving the option out says it all.
  public let defaultText: String?
  public let isRequired: Bool
  /// One or two sentences, without the default.
  public let help: String

  public var isFlag: Bool { grammar == .flag }

  /// "-o, --output OUT.wav", as help lists it.
  public var synopsis: String {
    let names = short.map { "-\($0), --\(name)" } ?? "--\(name)"
    return isFlag ? names : "\(names) \(placeholder)"
  }

  /// "-o OUT.wav", as a usage line shows it.
  var usage: String {
    let shortest = short.map { "-\($0)" } ?? "--\(name)"
    let whole = isFlag ? shortest : "\(shortest) \(placeholder)"
    return isRequired ? whole : "[\(whole)]"
  }
}

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
