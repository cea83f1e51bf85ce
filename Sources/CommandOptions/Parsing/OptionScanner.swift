// SPDX-License-Identifier: Apache-2.0

/// Parses the options and the positional arguments of one command.
struct OptionScanner {
  let command: CommandSpecification
  private var positional: [String] = []
  private var values: [String: OptionValue] = [:]

  init(command: CommandSpecification) {
    self.command = command
  }

  mutating func scan(_ arguments: [String]) throws(UsageError) -> ParsedCommand {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" {
        positional += rest
        break
      }
      if argument.hasPrefix("-"), argument != "-" {
        try option(argument, following: &rest)
      } else {
        positional.append(argument)
      }
    }
    return try checked()
  }

  private mutating func option(
    _ argument: String, following rest: inout ArraySlice<String>
  ) throws(UsageError) {
    let (typed, attached) = Self.split(argument)
    guard let option = command.options.first(where: { Self.matches($0, typed) }) else {
      throw unknown(typed)
    }
    if option.isFlag {
      if let attached { throw .unexpectedValue(option: typed, value: attached) }
      values[option.name] = .flag
      return
    }
    guard let text = attached ?? Self.takeValue(of: option, from: &rest) else {
      throw .missingValue(
        option: typed, placeholder: option.placeholder, command: command.name.rawValue)
    }
    values[option.name] = try Self.value(
      text, option.grammar, owner: "\(typed) <\(option.placeholder)>")
  }

  /// Splits "--name=value"; the value is nil without "=". The form "-ovalue" is not supported:
  /// "-order" is more likely a misspelt "--order".
  private static func split(_ argument: String) -> (name: String, value: String?) {
    guard let equals = argument.firstIndex(of: "=") else { return (argument, nil) }
    return (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
  }

  private static func matches(_ option: OptionSpecification, _ typed: String) -> Bool {
    typed == "--\(option.name)" || option.short.map { typed == "-\($0)" } ?? false
  }

  /// Takes the next argument as the option's value. Returns nil if there is none or if it looks
  /// like another option.
  private static func takeValue(
    of option: OptionSpecification, from rest: inout ArraySlice<String>
  ) -> String? {
    guard let next = rest.first else { return nil }
    let isOption = next.hasPrefix("--") || (next.hasPrefix("-") && !option.grammar.isNumeric)
    guard !isOption || next == "-" else { return nil }
    return rest.popFirst()
  }

  private static func value(
    _ text: String, _ grammar: ValueGrammar, owner: String
  ) throws(UsageError) -> OptionValue {
    guard let value = grammar.value(of: text) else {
      throw .invalidValue(
        text, of: owner, expectation: grammar.expectation,
        near: text.isEmpty ? nil : NearMatch.of(text, among: grammar.spelledWords))
    }
    return value
  }

  private func checked() throws(UsageError) -> ParsedCommand {
    let wanted = command.arguments
    let isOpen = wanted.last?.isRepeated ?? false
    if positional.count > wanted.count, !isOpen {
      throw unexpected(Array(positional[wanted.count...]))
    }
    var arguments: [String: [String]] = [:]
    for (index, text) in positional.enumerated() {
      let argument = wanted[min(index, wanted.count - 1)]
      _ = try Self.value(text, argument.grammar, owner: "<\(argument.name)>")
      arguments[argument.name, default: []].append(text)
    }
    let needed = wanted.filter { !$0.isOptional }
    if positional.count < needed.count {
      throw .missingArgument("<\(wanted[positional.count].name)>", command: command.name.rawValue)
    }
    for option in command.options where option.isRequired && values[option.name] == nil {
      let name = option.short.map { "-\($0)" } ?? "--\(option.name)"
      throw .missingArgument("\(name) <\(option.placeholder)>", command: command.name.rawValue)
    }
    return ParsedCommand(
      command: command, arguments: arguments, values: values, defaults: [:])
  }

  private func unexpected(_ extra: [String]) -> UsageError {
    let subcommands = Program.group(command.name.rawValue)
    if !subcommands.isEmpty, !subcommands.contains(where: { $0.path[1] == extra[0] }) {
      let near = NearMatch.of(extra[0], among: subcommands.map { $0.path[1] })
      return .unknownCommand(
        "\(command.name.rawValue) \(extra[0])", near: near.map { "\(command.name.rawValue) \($0)" })
    }
    return .unexpectedArguments(extra, command: command.name.rawValue)
  }

  private func unknown(_ typed: String) -> UsageError {
    if typed == "--json", command.options.contains(where: { $0.name == "events" }) {
      return .eventsInsteadOfJSON(command: command.name.rawValue)
    }
    if typed == "--loudness", command.name == .sink { return .loudnessOfLiveSound }
    let owners = Program.optionsWithCommands
      .filter { Self.matches($0.option, typed) }.flatMap(\.commands)
    if !owners.isEmpty {
      return .optionOfOthers(
        typed, owners: owners.map(\.rawValue), command: command.name.rawValue)
    }
    let names = command.options.map { "--\($0.name)" } + ["--help"]
    let isShort = typed.hasPrefix("-") && typed.contains(".") && !typed.hasPrefix("--")
    let near = typed.count > 2 && !isShort ? NearMatch.of(typed, among: names) : nil
    return .unknownOption(typed, near: near, command: command.name.rawValue)
  }
}
