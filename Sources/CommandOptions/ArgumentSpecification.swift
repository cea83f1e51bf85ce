// SPDX-License-Identifier: Apache-2.0

/// A positional argument of a command; every one of them must be given.
public struct ArgumentSpecification: Sendable, Equatable {
  /// The name in help and errors, in capitals.
  public let name: String
  public let grammar: ValueGrammar
  public let help: String
}
