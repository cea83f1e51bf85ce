// SPDX-License-Identifier: Apache-2.0

/// Parses a command line according to the table in ``Program``.
///
/// Options are allowed anywhere after the command, as `--name value`, `--name=value`, `-o value` or
/// `-o=value`; `--` ends the options. If an option is repeated, its last value counts.
public enum CommandParser {
  /// Parses the arguments that follow the program name.
  public static func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
    guard let first = arguments.first else { throw .missingCommand }
    switch first {
    case "--help", "-h": return .help(.overview)
    case "--version": return .version
    case "--man-page": return .manualPage
    case "help": return .help(try helpTopic(Array(arguments.dropFirst())))
    default: break
    }
    if first.hasPrefix("-") {
      let near = NearMatch.of(first, among: ["--help", "--version"])
      throw .unknownOption(first, near: near, command: nil)
    }
    guard let command = Program.command(startingWith: arguments) else {
      return try withoutCommand(arguments)
    }
    let rest = Array(arguments.dropFirst(command.path.count))
    if asksForHelp(rest) { return .help(.command(command)) }
    var scanner = OptionScanner(command: command)
    return finished(try scanner.scan(rest))
  }

  private static func finished(_ parsed: ParsedCommand) -> Invocation {
    if parsed.name == .completion, let shell = Shell(rawValue: parsed[Arguments.shell]) {
      return .completion(shell)
    }
    return .run(parsed)
  }

  private static func asksForHelp(_ arguments: [String]) -> Bool {
    arguments.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
  }

  private static func withoutCommand(_ arguments: [String]) throws(UsageError) -> Invocation {
    let first = arguments[0]
    let group = Program.group(first)
    if !group.isEmpty {
      if asksForHelp(arguments) { return .help(.group(first)) }
      guard arguments.count > 1, !arguments[1].hasPrefix("-") else {
        throw .missingSubcommand(of: first)
      }
    }
    throw unknown(arguments)
  }

  private static func helpTopic(_ words: [String]) throws(UsageError) -> HelpTopic {
    let words = words.filter { $0 != "--help" && $0 != "-h" }
    guard let first = words.first, words != ["help"] else { return .overview }
    if let command = Program.command(startingWith: words) {
      let extra = Array(words.dropFirst(command.path.count))
      guard extra.isEmpty else { throw .unknownCommand(words.joined(separator: " "), near: nil) }
      return .command(command)
    }
    if words.count == 1, !Program.group(first).isEmpty { return .group(first) }
    throw unknown(words)
  }

  /// Returns the error for words that do not name a command.
  private static func unknown(_ words: [String]) -> UsageError {
    guard words.count > 1, !Program.group(words[0]).isEmpty else {
      return .unknownCommand(
        words[0], near: NearMatch.of(words[0], among: Program.firstWords + ["help"]))
    }
    let typed = "\(words[0]) \(words[1])"
    let near = NearMatch.of(words[1], among: Program.group(words[0]).map { $0.path[1] })
    return .unknownCommand(typed, near: near.map { "\(words[0]) \($0)" })
  }
}

/// The action that a command line requests.
public enum Invocation: Sendable {
  case run(ParsedCommand)
  case help(HelpTopic)
  case version
  case manualPage
  case completion(Shell)
}

/// The part of the help that is requested.
public enum HelpTopic: Sendable, Equatable {
  case overview
  /// The commands that begin with this word, such as `hrtf`.
  case group(String)
  case command(CommandSpecification)
}
