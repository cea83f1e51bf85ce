// SPDX-License-Identifier: Apache-2.0

/// An error in the command line. The program then exits with code 2.
public enum UsageError: Error, Sendable, Equatable {
  case missingCommand
  case missingSubcommand(of: String)
  case unknownCommand(String, near: String?)
  case unknownOption(String, near: String?, command: String?)
  /// The option `--json` was given for a command that has `--events` instead.
  case eventsInsteadOfJSON(command: String)
  /// The option `--loudness` was given for `sink`.
  case loudnessOfLiveSound
  case optionOfOthers(String, owners: [String], command: String)
  case missingValue(option: String, placeholder: String, command: String)
  case unexpectedValue(option: String, value: String)
  case invalidValue(String, of: String, expectation: String, near: String?)
  case missingArgument(String, command: String)
  case unexpectedArguments([String], command: String)
}

extension UsageError: CustomStringConvertible {
  /// One line with the problem and the remedy, without a full stop.
  public var description: String {
    switch self {
    case .missingCommand:
      "missing command; \(Self.see(nil))"
    case .missingSubcommand(let group):
      "missing command after '\(group)'; \(Self.see(group))"
    case .unknownCommand(let command, let near):
      "unknown command \(Self.quoted(command)); \(Self.advice(near, else: nil))"
    case .unknownOption(let option, nil, let command) where Self.looksLikeFile(option):
      """
      unknown option \(Self.quoted(option)); for a file of that name, write \
      \(Self.quoted("./" + option)), or see 'stillstage \(command.map { "help " + $0 } ?? "--help")'
      """
    case .unknownOption(let option, let near, let command):
      "unknown option \(Self.quoted(option)); \(Self.advice(near, else: command))"
    case .eventsInsteadOfJSON(let command):
      """
      '\(command)' has no option '--json'; use '--events FILE.jsonl', which writes one JSON object \
      per line
      """
    case .loudnessOfLiveSound:
      """
      'sink' has no option '--loudness', because the loudness of a programme is known only when \
      the programme has ended; use '--gain', or the volume of the program
      """
    case .optionOfOthers(let option, let owners, let command):
      """
      unknown option \(Self.quoted(option)): it belongs to \
      \(owners.map { "'stillstage \($0)'" }.joined(separator: ", ")); \(Self.see(command))
      """
    case .missingValue(let option, let placeholder, let command):
      "missing value for '\(option) <\(placeholder)>'; \(Self.see(command))"
    case .unexpectedValue(let option, let value):
      "the option '\(option)' takes no value; remove \(Self.quoted(value))"
    case .invalidValue(let value, let owner, let expectation, let near):
      """
      the value \(Self.quoted(value)) is invalid for '\(owner)': it must be \(expectation)\
      \(near.map { "; did you mean '\($0)'?" } ?? "")
      """
    case .missingArgument(let argument, let command):
      "missing \(argument.hasPrefix("-") ? "option" : "argument") '\(argument)'; "
        + Self.see(command)
    case .unexpectedArguments(let arguments, let command):
      arguments.count == 1
        ? "unexpected argument \(Self.quoted(arguments[0])); \(Self.see(command))"
        : """
        \(arguments.count) unexpected arguments: \
        \(arguments.map(Self.quoted).joined(separator: ", ")); \(Self.see(command))
        """
    }
  }

  /// Returns whether an argument that begins with a single dash may be the name of a file, such as
  /// "-dash.flac". Returns false for two dashes.
  private static func looksLikeFile(_ argument: String) -> Bool {
    !argument.hasPrefix("--") && argument.dropFirst().contains { $0 == "." || $0 == "/" }
  }

  private static func advice(_ near: String?, else command: String?) -> String {
    near.map { "did you mean '\($0)'?" } ?? see(command)
  }

  private static func see(_ command: String?) -> String {
    command.map { "see 'stillstage help \($0)'" } ?? "see 'stillstage --help'"
  }

  /// Returns the text in quotes, truncated to 120 Unicode scalars. Control characters, format
  /// characters, and line and paragraph separators are escaped.
  static func quoted(_ text: String) -> String {
    var shown = ""
    for (count, scalar) in text.unicodeScalars.enumerated() {
      if count == 120 { return "'\(shown)...'" }
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        shown += scalar.escaped(asASCII: true)
      default: shown.unicodeScalars.append(scalar)
      }
    }
    return "'\(shown)'"
  }
}
