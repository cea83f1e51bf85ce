// SPDX-License-Identifier: Apache-2.0

/// A value from the command line after its ``ValueGrammar`` has accepted it.
public enum OptionValue: Sendable, Equatable {
  case flag
  case text(String)
  case word(String)
  case integer(Int)
  case number(Double)
  case list([OptionValue])
}
