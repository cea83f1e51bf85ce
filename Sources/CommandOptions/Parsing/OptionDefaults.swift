// SPDX-License-Identifier: Apache-2.0

/// The user's defaults for the options of `play` and `render`, or of `sink`, by option name.
///
/// The default of an option applies if the option is not on the command line.
public struct OptionDefaults: Sendable, Equatable {
  /// The commands to which defaults apply.
  public enum Scope: Sendable, Equatable {
    /// `play` and `render`.
    case files
    /// `sink`.
    case systemWide

    var commands: [CommandName] { self == .files ? [.play, .render] : [.sink] }
    /// The text before an option's name in messages.
    var prefix: String { self == .files ? "" : "sink." }
  }

  /// Why a default is invalid.
  public enum Problem: Error, Sendable, Equatable {
    case unknownName(String, near: String?, Scope)
    /// The option is required, so it cannot have a default.
    case needsCommandLine(String)
    case badValue(String, of: String, expectation: String, near: String?)
  }

  private var values: [String: OptionValue] = [:]
  private var scope = Scope.files

  /// Creates an empty set of defaults.
  public init() {}

  /// Parses defaults.
  ///
  /// - Parameters:
  ///   - texts: the value of each option by name, as on the command line; "on" or "off" for a flag.
  ///   - scope: the commands to which the defaults apply.
  /// - Throws: the first problem, in alphabetical order of the names.
  public init(_ texts: [String: String], for scope: Scope = .files) throws(Problem) {
    self.scope = scope
    let options = Self.options(scope)
    for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
      // An option that one command requires can have a default for the other.
      let named = options.filter { $0.name == name }
      guard let option = named.first(where: { !$0.isRequired }) ?? named.first else {
        let names = options.filter { !$0.isRequired }.map(\.name)
        throw .unknownName(name, near: NearMatch.of(name, among: names), scope)
      }
      guard !option.isRequired else { throw .needsCommandLine(scope.prefix + name) }
      if option.isFlag, text == "off" { continue }
      let value = option.isFlag ? Self.flag(text) : option.grammar.value(of: text)
      guard let value else {
        let expectation = option.isFlag ? "true or false" : option.grammar.expectation
        throw .badValue(
          text, of: scope.prefix + name, expectation: expectation,
          near: NearMatch.of(text, among: option.grammar.spelledWords))
      }
      values[name] = value
    }
  }

  /// The names of the options of `play` and `render` that can have a default.
  public static var names: [String] {
    options(.files).filter { !$0.isRequired }.map(\.name)
  }

  /// Returns the command with the defaults for its options. A command outside the scope is returned
  /// unchanged.
  public func applied(to command: ParsedCommand) -> ParsedCommand {
    guard scope.commands.contains(command.name) else { return command }
    let own = Set(command.command.options.filter { !$0.isRequired }.map(\.name))
    var command = command
    command.defaults = values.filter { own.contains($0.key) }
    return command
  }

  private static func flag(_ text: String) -> OptionValue? { text == "on" ? .flag : nil }

  private static func options(_ scope: Scope) -> [OptionSpecification] {
    let all = Program.commands.filter { scope.commands.contains($0.name) }.flatMap(\.options)
    guard scope == .systemWide else { return all }
    return all.filter { !Options.sinkActions.contains($0.name) }
  }
}

extension OptionDefaults.Problem: CustomStringConvertible {
  /// The problem, for the end of a message.
  public var description: String {
    switch self {
    case .unknownName(let name, let near, let scope):
      (scope == .files ? "'play' and 'render' have" : "'sink' has")
        + " no option \(UsageError.quoted(name)) that can have a default; "
        + (near.map { "did you mean '\($0)'?" } ?? "remove it")
    case .needsCommandLine(let name):
      "'\(name)' cannot have a default; give it on the command line"
    case .badValue(let text, let name, let expectation, let near):
      "'\(name)' is \(UsageError.quoted(text)), but must be \(expectation)"
        + (near.map { "; did you mean '\($0)'?" } ?? "")
    }
  }
}
