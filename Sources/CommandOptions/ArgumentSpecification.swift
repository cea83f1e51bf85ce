// SPDX-License-Identifier: Apache-2.0

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
