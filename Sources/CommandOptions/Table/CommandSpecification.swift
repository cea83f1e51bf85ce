// SPDX-License-Identifier: Apache-2.0

/// A command with all its arguments and options.
public struct CommandSpecification: Sendable, Equatable {
  public let name: CommandName
  /// A short sentence for lists of commands.
  public let summary: String
  /// Complete sentences for the command's help and the manual page.
  public let discussion: String
  public let arguments: [ArgumentSpecification]
  public let options: [OptionSpecification]

  /// The words of the name, such as `["hrtf", "info"]`.
  public var path: [String] { name.rawValue.split(separator: " ").map(String.init) }

  /// The usage line, such as "stillstage render INPUT -o OUT.wav [options]". If a line that lists
  /// all options has at most 70 characters, the usage line lists them instead of "[options]".
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
  /// The name in help and errors, such as "INPUT" or "IN.csv".
  public let name: String
  public let grammar: ValueGrammar
  public let help: String
  /// Whether the argument takes all remaining words. Only the last argument of a command may do so.
  public var isRepeated = false
  /// Whether the argument may be omitted. Only the last argument of a command may be optional.
  public var isOptional = false

  /// The argument in usage lines, such as "FILE..." or "[FILE...]".
  public var usage: String {
    let usage = isRepeated ? "\(name)..." : name
    return isOptional ? "[\(usage)]" : usage
  }
}
