// SPDX-License-Identifier: Apache-2.0

/// The completion script for fish.
enum FishCompletion {
  static var text: String {
    let words = Program.firstWords + ["help"]
    var lines = [
      "# fish completion for stillstage, made by 'stillstage completion fish'",
      "complete -c stillstage -f",
      "complete -c stillstage -n __fish_use_subcommand -l help -d 'Show help.'",
      "complete -c stillstage -n __fish_use_subcommand -l version -d 'Show the version.'",
    ]
    lines += words.map { word in
      let summary = Program.commands.first { $0.path == [word] }?.summary ?? ""
      return "complete -c stillstage -n __fish_use_subcommand -a \(word) -d \(quoted(summary))"
    }
    lines += Program.commands.flatMap(command)
    return lines.joined(separator: "\n") + "\n"
  }

  private static func command(_ command: CommandSpecification) -> [String] {
    let path = command.path
    let seen = path.map { "__fish_seen_subcommand_from \($0)" }.joined(separator: "; and ")
    let rivals = Program.group(path[0]).map { $0.path[1] }
    let first = "__fish_seen_subcommand_from \(path[0])"
    let unspecified = ([first] + rivals.map { "not __fish_seen_subcommand_from \($0)" })
      .joined(separator: "; and ")
    let condition = quoted(path.count == 1 ? unspecified : seen)
    var lines: [String] = []
    if path.count > 1 {
      lines.append(
        "complete -c stillstage -n \(quoted(unspecified)) -a \(path[1]) "
          + "-d \(quoted(command.summary))")
    }
    lines += command.options.map { option($0, when: condition) }
    lines += command.arguments.map { argument in
      let words = argument.grammar.words.joined(separator: " ")
      let values = argument.grammar == .file ? "-F" : "-a \(quoted(words))"
      return "complete -c stillstage -n \(condition) \(values)"
    }
    return lines
  }

  private static func option(_ option: OptionSpecification, when condition: String) -> String {
    let short = option.short.map { " -s \($0)" } ?? ""
    let values =
      switch option.grammar {
      case .flag: ""
      case .file: " -r -F"
      case .folder: " -x -a '(__fish_complete_directories)'"
      default: " -x -a \(quoted(option.grammar.words.joined(separator: " ")))"
      }
    return "complete -c stillstage -n \(condition) -l \(option.name)\(short)\(values) "
      + "-d \(quoted(option.help))"
  }

  private static func quoted(_ text: String) -> String {
    let escaped = text.reduce(into: "") { result, character in
      if character == "'" || character == "\\" { result.append("\\") }
      result.append(character)
    }
    return "'\(escaped)'"
  }
}
