// SPDX-License-Identifier: Apache-2.0

/// The completion script for zsh, for a file named `_stillstage` in a folder of `fpath`.
enum ZshCompletion {
  static var text: String {
    """
    #compdef stillstage
    # zsh completion for stillstage, made by 'stillstage completion zsh'
    _stillstage() {
      local -a commands
      if (( CURRENT == 2 )); then
        commands=(
    \(firstWords.joined(separator: "\n"))
        )
        _describe -t commands command commands
        return
      fi
      case "$words[2] $words[3]" in
    \(Program.commands.filter { $0.path.count > 1 }.map(narrowing).joined(separator: "\n"))
      esac
      case "$words[2]" in
    \(Program.commands.map(branch).joined(separator: "\n"))
    \(groups.joined(separator: "\n"))
      esac
    }
    _stillstage "$@"

    """
  }

  private static var firstWords: [String] {
    Program.firstWords.map { word in
      let command = Program.commands.first { $0.path == [word] }
      let summary = command?.summary ?? "Commands of '\(word)'."
      return "      \(quoted("\(word):\(summary)"))"
    } + ["      'help:Show help.'"]
  }

  /// Returns the `case` branch that joins the two words of a command into one, so that the rest of
  /// the line is completed in the same way for all commands.
  private static func narrowing(_ command: CommandSpecification) -> String {
    let name = command.name.rawValue
    return """
          "\(name)")
            if (( CURRENT > 3 )); then
              words=("$words[1]" "\(name)" "${words[@]:3}"); (( CURRENT -= 1 ))
            fi ;;
      """
  }

  private static func branch(_ command: CommandSpecification) -> String {
    let subcommands = Program.group(command.name.rawValue).map { $0.path[1] }
    let arguments =
      command.options.flatMap(option) + ["'(- *)'{-h,--help}'[Show help.]'"]
      + command.arguments.enumerated().map { argument($1, at: $0 + 1) }
      + (subcommands.isEmpty ? [] : ["'1:command:(\(subcommands.joined(separator: " ")))'"])
    let lines = arguments.map { "        \($0)" }.joined(separator: " \\\n")
    return """
          "\(command.name.rawValue)")
            shift words; (( CURRENT -= 1 ))
            _arguments -s : \\
      \(lines) ;;
      """
  }

  private static var groups: [String] {
    Program.firstWords.filter { word in
      !Program.group(word).isEmpty && !Program.commands.contains { $0.path == [word] }
    }.map { word in
      let words = Program.group(word).map { $0.path[1] }.joined(separator: " ")
      return "    \(word)) _values command \(words) ;;"
    }
  }

  private static func option(_ option: OptionSpecification) -> [String] {
    let help = "[\(plain(option.help))]"
    guard !option.isFlag else { return [quoted("--\(option.name)\(help)")] }
    let value = ":\(plain(option.placeholder)):\(action(option.grammar))"
    let long = quoted("--\(option.name)=\(help)\(value)")
    return option.short.map { [long, quoted("-\($0)\(help)\(value)")] } ?? [long]
  }

  private static func argument(_ argument: ArgumentSpecification, at position: Int) -> String {
    let place = argument.isRepeated ? "*" : "\(position)"
    return quoted("\(place):\(plain(argument.name)):\(action(argument.grammar))")
  }

  private static func action(_ grammar: ValueGrammar) -> String {
    switch grammar {
    case .file: "_files"
    case .folder: "_files -/"
    default:
      grammar.words.isEmpty ? " " : "(\(grammar.words.map(plain).joined(separator: " ")))"
    }
  }

  /// Escapes text for use inside the brackets and between the colons that `_arguments` parses.
  private static func plain(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      if "[]:\\".contains(character) { result.append("\\") }
      result.append(character)
    }
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}
