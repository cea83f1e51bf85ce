// SPDX-License-Identifier: Apache-2.0

/// Wrong usage, in the words of the command line as it was typed. Exit code 2.
public enum UsageError: Error, Sendable, Equatable {
  case missingCommand
  case missingSubcommand(of: String)
  case unknownCommand(String, near: String?)
  case unknownOption(String, near: String?, command: String?)
  case optionOfOthers(String, owners: [String], command: String)
  case missingValue(option: String, placeholder: String, command: String)
  case unexpectedValue(option: String, value: String)
  case invalidValue(String, of: String, expectation: String, near: String?)
  case missingArgument(String, command: String)
  case unexpectedArguments([String], command: String)
}
