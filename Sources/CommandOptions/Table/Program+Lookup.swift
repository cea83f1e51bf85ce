// SPDX-License-Identifier: Apache-2.0

extension Program {
  /// Returns the longest command that `words` begins with; nil if there is none.
  static func command(startingWith words: [String]) -> CommandSpecification? {
    commands.filter { words.starts(with: $0.path) }.max { $0.path.count < $1.path.count }
  }

  /// Returns the two-word commands that begin with `word`.
  static func group(_ word: String) -> [CommandSpecification] {
    commands.filter { $0.path.count > 1 && $0.path[0] == word }
  }

  /// The first words of the commands, without duplicates.
  static var firstWords: [String] {
    commands.reduce(into: []) { words, command in
      if !words.contains(command.path[0]) { words.append(command.path[0]) }
    }
  }

  /// The distinct rows of the option table, with the commands that take them.
  static var optionsWithCommands: [(option: OptionSpecification, commands: [CommandName])] {
    var rows: [(option: OptionSpecification, commands: [CommandName])] = []
    for command in commands {
      for option in command.options {
        if let row = rows.firstIndex(where: { $0.option == option }) {
          rows[row].commands.append(command.name)
        } else {
          rows.append((option, [command.name]))
        }
      }
    }
    return rows
  }
}
