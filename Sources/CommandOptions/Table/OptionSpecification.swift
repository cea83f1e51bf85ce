// SPDX-License-Identifier: Apache-2.0

/// One row of the option table.
public struct OptionSpecification: Sendable, Equatable {
  /// The long name, without dashes.
  public let name: String
  public let short: Character?
  /// The name of the value in help and errors; empty for a flag.
  public let placeholder: String
  public let grammar: ValueGrammar
  /// The default in help texts; nil if they show none.
  public let defaultText: String?
  public let isRequired: Bool
  /// The help text, to which `sentence` adds the accepted values and the default.
  public let help: String

  public var isFlag: Bool { grammar == .flag }

  /// The option in help lists, such as "-o, --output OUT.wav".
  public var synopsis: String {
    let names = short.map { "-\($0), --\(name)" } ?? "--\(name)"
    return isFlag ? names : "\(names) \(placeholder)"
  }

  /// The option in usage lines, such as "-o OUT.wav", or "[--order N]" if it is optional.
  var usage: String {
    let shortest = short.map { "-\($0)" } ?? "--\(name)"
    let whole = isFlag ? shortest : "\(shortest) \(placeholder)"
    return isRequired ? whole : "[\(whole)]"
  }
}

extension OptionSpecification {
  /// The help text, followed by the accepted values (unless the text or the placeholder shows them)
  /// and the default (if there is one).
  var sentence: String {
    var text = help
    if let accepted = grammar.reference(beside: placeholder) { text += " Values: \(accepted)." }
    if let defaultText { text += " Default: \(defaultText)." }
    return text
  }
}

extension ArgumentSpecification {
  /// The help text, followed by the accepted values, unless the text or the name shows them.
  var sentence: String {
    grammar.reference(beside: name).map { "\(help) Values: \($0)." } ?? help
  }
}

extension ValueGrammar {
  /// Returns the accepted values in a few words; nil if the placeholder shows them, or if the help
  /// text must describe them.
  fileprivate func reference(beside placeholder: String) -> String? {
    switch self {
    case .flag, .text, .axes, .file, .folder, .bitRate: nil
    case .words(let words):
      words.joined(separator: "|") == placeholder ? nil : words.joined(separator: ", ")
    case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
    case .number(let range):
      "\(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))"
    case .list(let element, _): element.reference(beside: placeholder)
    // A placeholder with alternatives, such as "FILE|auto|off", already contains the words.
    case .either where placeholder.contains("|"): nil
    case .either(let words, .text): "\(words.joined(separator: ", ")) or another name"
    case .either(let words, let other):
      other.reference(beside: placeholder).map { "\(words.joined(separator: ", ")) or \($0)" }
    }
  }
}
