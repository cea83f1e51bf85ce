// SPDX-License-Identifier: Apache-2.0

extension Program {
  /// The command with the longest name that `words` begins with.
  static func command(startingWith words: [String]) -> CommandSpecification? {
    commands.filter { words.starts(with: $0.path) }.max { $0.path.count < $1.path.count }
  }

  /// The commands of two words that begin with `word`.
  static func group(_ word: String) -> [CommandSpecification] {
    commands.filter { $0.path.count > 1 && $0.path[0] == word }
  }

  /// The first words of all commands, each once.
  static var firstWords: [String] {
    commands.reduce(into: []) { words, command in
      if !words.contains(command.path[0]) { words.append(command.path[0]) }
    }
  }

  /// Every different row of the option table, with the commands that take it.
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
