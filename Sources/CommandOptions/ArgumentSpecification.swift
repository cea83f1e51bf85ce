// SPDX-License-Identifier: Apache-2.0

/// A positional argument of a command.
public struct ArgumentSpecification: Sendable, Equatable {
  /// The name in help and errors, in capitals.
  public let name: String
  public let grammar: ValueGrammar
  public let help: String
  /// Takes all arguments that are left; only the last of a command's may.
  public var isRepeated = false
  /// It need not be given; only the last of a command's may be left out.
  public var isOptional = false

  /// "FILE..." or "[FILE...]", as usage lines show it.
  public var usage: String {
    let text = isRepeated ? "\(name)..." : name
    return isOptional ? "[\(text)]" : text
  }
}
