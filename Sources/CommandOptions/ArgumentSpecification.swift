// SPDX-License-Identifier: Apache-2.0

/// A positional argument of a command; every one of them must be given.
public struct ArgumentSpecification: Sendable, Equatable {
  /// The name in help and errors, in capitals.
  public let name: String
  public let grammar: ValueGrammar
  public let help: String
  /// Takes all arguments that are left, one at least; only the last of a command's may.
  public var isRepeated = false

  /// "FILE...", as usage lines show it.
  public var usage: String { isRepeated ? "\(name)..." : name }
}
