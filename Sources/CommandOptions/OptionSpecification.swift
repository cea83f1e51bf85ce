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
