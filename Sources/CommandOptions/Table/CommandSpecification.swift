// SPDX-License-Identifier: Apache-2.0

/// A command with everything it accepts.
public struct CommandSpecification: Sendable, Equatable {
  public let name: CommandName
  /// One line for lists.
  public let summary: String
  /// Whole sentences for the command's own help and the manual page.
  public let discussion: String
  public let arguments: [ArgumentSpecification]
  public let options: [OptionSpecification]

  /// The words that name the command: `["hrtf", "info"]`.
  public var path: [String] { name.rawValue.split(separator: " ").map(String.init) }

  /// "stillstage render INPUT -o OUT.wav [options]": all options where they fit into a line.
  public var usage: String {
    let required = options.filter(\.isRequired).map(\.usage)
    let optional = options.filter { !$0.isRequired }.map(\.usage)
    let start = (["stillstage"] + path + arguments.map(\.usage) + required).joined(separator: " ")
    guard !optional.isEmpty else { return start }
    let whole = "\(start) \(optional.joined(separator: " "))"
    return whole.count <= 70 ? whole : "\(start) [options]"
  }
}

/// A positional argument of a command.
public struct ArgumentSpecification: Sendable, Equatable {
  /// The name in help and errors, in capitals.
  public let name: String
  public let grammar: ValueGrammar
  public let help: String
  /// Takes all arguments that are left; only the last of a command's may.
  public var isRepeated = false
  /// Need not be given; only the last of a command's.
  public var isOptional = false

  /// "FILE...", "[FILE...]", as usage lines show it.
  public var usage: String {
    let usage = isRepeated ? "\(name)..." : name
    return isOptional ? "[\(usage)]" : usage
  }
}
