// SPDX-License-Identifier: Apache-2.0

/// The manual page stillstage(1), in man(7) macros.
public enum ManualPage {
  public static var text: String {
    """
    .\\" Made from the option table by 'stillstage --man-page'.
    .TH STILLSTAGE 1 "" "Stillstage \(Roff.escaped(Program.version))" "User Commands"
    .SH NAME
    stillstage \\- \(Roff.escaped(Program.summary))
    .SH SYNOPSIS
    \(Roff.lines(Program.commands.map { ".B \(Roff.escaped($0.usage))" }, between: ".br"))
    .SH DESCRIPTION
    \(ManualText.description)
    .SH COMMANDS
    \(Roff.lines(Program.commands.map(command)))
    .SH OPTIONS
    \(ManualText.options)
    \(Roff.lines(Program.optionsWithCommands.map(option)))
    \(Roff.lines(HelpText.standardOptions.map { Roff.definition($0.0, $0.1) }))
    \(ManualText.ending)

    """
  }

  private static func command(_ command: CommandSpecification) -> String {
    let term = (command.path + command.arguments.map(\.usage)).joined(separator: " ")
    let arguments = command.arguments.map { "\($0.name): \($0.sentence)" }
    return Roff.definition(term, ([command.discussion] + arguments).joined(separator: " "))
  }

  private static func option(
    _ row: (option: OptionSpecification, commands: [CommandName])
  ) -> String {
    let owners = row.commands.map(\.rawValue).joined(separator: ", ")
    return Roff.definition(row.option.synopsis, "\(row.option.sentence) For: \(owners).")
  }
}

/// Formats text with man(7) macros.
enum Roff {
  /// Escapes backslashes, hyphens, and a full stop or apostrophe at the start of `text`.
  static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      default: result.append(character)
      }
    }
    return result.hasPrefix(".") || result.hasPrefix("'") ? "\\&" + result : result
  }

  static func definition(_ term: String, _ text: String) -> String {
    ".TP\n.B \(escaped(term))\n\(escaped(text))"
  }

  static func lines(_ lines: [String], between separator: String? = nil) -> String {
    lines.joined(separator: separator.map { "\n\($0)\n" } ?? "\n")
  }
}
