// SPDX-License-Identifier: Apache-2.0

/// A valid command line: the command with the values of its arguments and options.
public struct ParsedCommand: Sendable {
  public let command: CommandSpecification
  let arguments: [String: [String]]
  let values: [String: OptionValue]
  /// The user's defaults; `values` takes precedence.
  var defaults: [String: OptionValue]

  public var name: CommandName { command.name }

  /// The value of an option: from the command line, or else the user's default, or else the
  /// program's default. A required option must belong to the command.
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

  /// The first text of a positional argument. The argument must be on the command line.
  public subscript(_ argument: ArgumentSpecification) -> String { all(argument)[0] }

  /// Returns the texts of an argument; empty if an optional argument is not given. Unless the
  /// argument is optional, the command must have it.
  public func all(_ argument: ArgumentSpecification) -> [String] {
    guard let texts = arguments[argument.name] ?? (argument.isOptional ? [] : nil) else {
      preconditionFailure("\(name.rawValue) has no argument \(argument.name)")
    }
    return texts
  }
}
