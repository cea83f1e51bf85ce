// SPDX-License-Identifier: Apache-2.0

/// The completion script for bash. The script does not need the bash-completion package.
enum BashCompletion {
  static var text: String {
    """
    # bash completion for stillstage, made by 'stillstage completion bash'
    _stillstage() {
      local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
      local command=${COMP_WORDS[1]} options= words= files=
      COMPREPLY=()
      if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "\(firstWords)" -- "$current")
        return
      fi
      case "$command ${COMP_WORDS[2]}" in
    \(Self.lines(Program.commands.filter { $0.path.count > 1 }.map(narrowing)))
      esac
      case "$command" in
    \(Self.lines(groups.map(subcommands)))
    \(Self.lines(Program.commands.map(branch)))
      esac
      if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
      elif [ -n "$files" ]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
      else
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
      fi
    }
    complete -o filenames -F _stillstage stillstage

    """
  }

  private static var firstWords: String {
    (Program.firstWords + ["help", "--help", "--version"]).joined(separator: " ")
  }

  /// The first words of two-word commands, except words that are also one-word commands.
  private static var groups: [String] {
    Program.firstWords.filter { word in
      !Program.group(word).isEmpty && !Program.commands.contains { $0.path == [word] }
    }
  }

  private static func narrowing(_ command: CommandSpecification) -> String {
    let name = command.name.rawValue
    return #"    "\#(name)") [ "$COMP_CWORD" -gt 2 ] && command="\#(name)" ;;"#
  }

  private static func subcommands(_ word: String) -> String {
    let words = Program.group(word).map { $0.path[1] }.joined(separator: " ")
    return
      #"    \#(word)) mapfile -t COMPREPLY < <(compgen -W "\#(words)" -- "$current"); return ;;"#
  }

  private static func branch(_ command: CommandSpecification) -> String {
    let options = command.options.flatMap { option in
      ["--\(option.name)"] + (option.short.map { ["-\($0)"] } ?? [])
    }
    let words =
      Program.group(command.name.rawValue).map { $0.path[1] }
      + command.arguments.flatMap(\.grammar.words)
    return """
          "\(command.name.rawValue)")
            options="\((options + ["--help"]).joined(separator: " "))"
            words="\(words.joined(separator: " "))"
            files=\(command.arguments.contains { $0.grammar == .file } ? "yes" : "")
            case "$previous" in
      \(lines(command.options.filter { !$0.isFlag }.map(value)))
            esac ;;
      """
  }

  private static func value(_ option: OptionSpecification) -> String {
    let names = ["--\(option.name)"] + (option.short.map { ["-\($0)"] } ?? [])
    let source =
      switch option.grammar {
      case .file: "-f"
      case .folder: "-d"
      default: "-W \"\(option.grammar.words.joined(separator: " "))\""
      }
    return "        \(names.joined(separator: "|"))) "
      + #"mapfile -t COMPREPLY < <(compgen \#(source) -- "$current"); return ;;"#
  }

  private static func lines(_ lines: [String]) -> String { lines.joined(separator: "\n") }
}
