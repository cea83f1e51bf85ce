// SPDX-License-Identifier: Apache-2.0

/// The help that `--help` and `help COMMAND` print.
public enum HelpText {
  public static func about(_ topic: HelpTopic) -> String {
    switch topic {
    case .overview: overview
    case .group(let word): about(group: Program.group(word), word)
    case .command(let command): about(command)
    }
  }

  private static var overview: String {
    """
    Stillstage: \(Program.summary).

    USAGE: \(Program.name) COMMAND [options]

    \(list(Program.commands, title: "COMMANDS:"))
    \(options(standardOptions))
    \(examples(Program.commands.prefix(4).compactMap(\.examples.first)))
    'stillstage help COMMAND' describes a command.

    """
  }

  /// The text for a call without a command. Together with an error line, it fits on a terminal of
  /// 80 columns and 24 rows.
  public static var brief: String {
    let words = Program.commands.filter { $0.path.count == 1 }
    let groups = Program.firstWords.filter { word in !words.contains { $0.path == [word] } }
    let rows =
      words.map { ($0.path[0], $0.summary) }
      + groups.map { ($0, "Several commands; see 'stillstage help \($0)'.") }
    let list = rows.reduce("") { $0 + TextColumns.definition($1.0, $1.1, column: 14) }
    return """
      USAGE: \(Program.name) COMMAND [options]

      \(list)
      'stillstage --help' shows all commands; 'stillstage help COMMAND' describes one.

      """
  }

  private static func about(group commands: [CommandSpecification], _ word: String) -> String {
    list(commands, title: "COMMANDS OF '\(word)':") + "\n"
      + examples(commands.compactMap(\.examples.first))
  }

  private static func about(_ command: CommandSpecification) -> String {
    var text = TextColumns.wrapped(command.discussion, width: 80).joined(separator: "\n")
    text += "\n\nUSAGE: \(command.usage)\n"
    if !command.arguments.isEmpty {
      text += "\nARGUMENTS:\n"
      for argument in command.arguments {
        text += TextColumns.definition(argument.name, argument.sentence)
      }
    }
    let rows = command.options.map { ($0.synopsis, $0.sentence) }
    text += "\n" + options(rows + [standardOptions[0]])
    if !command.keys.isEmpty {
      text += command.keys.reduce("\nKEYS:\n") {
        $0 + TextColumns.definition($1.keys, $1.sentence)
      }
    }
    let subcommands = Program.group(command.name.rawValue)
    if !subcommands.isEmpty { text += "\n" + list(subcommands, title: "COMMANDS:") }
    return text + "\n" + examples(command.examples)
  }

  private static func list(_ commands: [CommandSpecification], title: String) -> String {
    commands.reduce("\(title)\n") { text, command in
      let term = (command.path + command.arguments.map(\.usage)).joined(separator: " ")
      return text + TextColumns.definition(term, command.summary)
    }
  }

  private static func options(_ rows: [(String, String)]) -> String {
    rows.reduce("OPTIONS:\n") { $0 + TextColumns.definition($1.0, $1.1) }
  }

  private static func examples(_ examples: [CommandExample]) -> String {
    examples.reduce("EXAMPLES:\n") { $0 + "  \($1.line)\n      \($1.help)\n" }
  }

  static let standardOptions = [
    ("-h, --help", "Show help."), ("--version", "Show the version."),
  ]
}

/// Breaks text into lines and columns.
enum TextColumns {
  /// Returns `text` in lines of at most `width` characters. A longer word gets a line of its own.
  static func wrapped(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, line.count + 1 + word.count > width {
        lines.append(line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " \(word)"
    }
    return line.isEmpty ? lines : lines + [line]
  }

  /// Returns a term in the left column and its explanation in the right column. A term that is too
  /// long for the column gets its own line.
  static func definition(_ term: String, _ text: String, column: Int = 26, width: Int = 80)
    -> String
  {
    let lines = wrapped(text, width: width - column)
    let margin = String(repeating: " ", count: column)
    let head = "  \(term)"
    let fits = head.count + 2 <= column
    var result = fits ? head + String(repeating: " ", count: column - head.count) : head + "\n"
    for (index, line) in lines.enumerated() {
      result += (index == 0 && fits ? "" : margin) + line + "\n"
    }
    return lines.isEmpty ? head + "\n" : result
  }
}
