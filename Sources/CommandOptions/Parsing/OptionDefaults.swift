// SPDX-License-Identifier: Apache-2.0

/// The user's defaults for the options of `play` and `render`, by option name.
///
/// A default applies if the command has the option but the command line does not set it.
public struct OptionDefaults: Sendable, Equatable {
  /// The reason why a default is invalid.
  public enum Problem: Error, Sendable, Equatable {
    case unknownName(String, near: String?)
    /// The option is required, so it must be on the command line.
    case needsCommandLine(String)
    case badValue(String, of: String, expectation: String, near: String?)
  }

  private var values: [String: OptionValue] = [:]

  /// Creates an empty set of defaults: only the program's own defaults apply.
  public init() {}

  /// Parses defaults.
  ///
  /// - Parameter texts: the value of each option by name, as on the command line; "on" or "off" for
  ///   a flag.
  /// - Throws: the first problem, in alphabetical order of the names.
  public init(_ texts: [String: String]) throws(Problem) {
    let options = Self.options
    for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
      // An option that only one of the commands requires can have a default for the other.
      let named = options.filter { $0.name == name }
      guard let option = named.first(where: { !$0.isRequired }) ?? named.first else {
        throw .unknownName(name, near: NearMatch.of(name, among: Self.names))
      }
      guard !option.isRequired else { throw .needsCommandLine(name) }
      if option.isFlag, text == "off" { continue }
      let value = option.isFlag ? Self.flag(text) : option.grammar.value(of: text)
      guard let value else {
        let expectation = option.isFlag ? "true or false" : option.grammar.expectation
        throw .badValue(
          text, of: name, expectation: expectation,
          near: NearMatch.of(text, among: option.grammar.spelledWords))
      }
      values[name] = value
    }
  }

  /// The names of the options that can have a default.
  public static var names: [String] {
    options.filter { !$0.isRequired }.map(\.name)
  }

  /// Returns the command with the defaults for its options. Commands other than `play` and `render`
  /// are returned unchanged.
  public func applied(to command: ParsedCommand) -> ParsedCommand {
    guard [.play, .render].contains(command.name) else { return command }
    let own = Set(command.command.options.filter { !$0.isRequired }.map(\.name))
    var command = command
    command.defaults = values.filter { own.contains($0.key) }
    return command
  }

  private static func flag(_ text: String) -> OptionValue? { text == "on" ? .flag : nil }

  private static var options: [OptionSpecification] {
    Program.commands.filter { [.play, .render].contains($0.name) }.flatMap(\.options)
  }
}

extension OptionDefaults.Problem: CustomStringConvertible {
  /// The problem, as the end of a line that begins with the name of the file.
  public var description: String {
    switch self {
    case .unknownName(let name, let near):
      "'play' and 'render' have no option \(UsageError.quoted(name))"
        + (near.map { "; did you mean '\($0)'?" } ?? "")
    case .needsCommandLine(let name):
      "'\(name)' cannot have a default; give it on the command line"
    case .badValue(let text, let name, let expectation, let near):
      "'\(name)' is \(UsageError.quoted(text)), but must be \(expectation)"
        + (near.map { "; did you mean '\($0)'?" } ?? "")
    }
  }
}
