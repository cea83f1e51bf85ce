// SPDX-License-Identifier: Apache-2.0

/// A valid command line: the command with the values of its arguments and options.
public struct ParsedCommand: Sendable {
  public let command: CommandSpecification
  let arguments: [String: [String]]
  let values: [String: OptionValue]
  /// The user's defaults for the command's options; `values` takes precedence.
  var defaults: [String: OptionValue]

  public var name: CommandName { command.name }

  /// The value of an option: from the command line, or else the user's default, or else the
  /// program's default. If the option is required, the command must be one that has the option.
  public subscript<Value>(_ option: CommandOption<Value>) -> Value {
    let name = option.specification.name
    if let given = values[name] ?? defaults[name], let value = option.convert(given) {
      return value
    }
    guard let value = option.defaultValue else {
      preconditionFailure("\(self.name.rawValue) has no --\(option.specification.name)")
    }
    return value
  }

  /// Returns whether the option is on the command line.
  public func isGiven<Value>(_ option: CommandOption<Value>) -> Bool {
    values[option.specification.name] != nil
  }

  /// The text of a positional argument: the first text if the argument is repeated. The command
  /// must have the argument, and an optional argument must have been given.
  public subscript(_ argument: ArgumentSpecification) -> String { all(argument)[0] }

  /// Returns the texts of an argument that may be repeated: at least one, unless the argument is
  /// optional. Unless it is optional, the command must have the argument.
  public func all(_ argument: ArgumentSpecification) -> [String] {
    guard let texts = arguments[argument.name] ?? (argument.isOptional ? [] : nil) else {
      preconditionFailure("\(name.rawValue) has no argument \(argument.name)")
    }
    return texts
  }
}
