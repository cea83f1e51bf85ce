// SPDX-License-Identifier: Apache-2.0

/// A valid command line: the command and its values.
public struct ParsedCommand: Sendable {
  public let command: CommandSpecification
  let arguments: [String: [String]]
  let values: [String: OptionValue]
  /// The user's defaults for options that were not given.
  var defaults: [String: OptionValue]

  public var name: CommandName { command.name }

  /// The value of an option, or its default if it was not given. The command must have the option
  /// if it is required.
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

  /// Returns true if the option is on the command line.
  public func isGiven<Value>(_ option: CommandOption<Value>) -> Bool {
    values[option.specification.name] != nil
  }

  /// The text of a positional argument. The command must have that argument.
  public subscript(_ argument: ArgumentSpecification) -> String { all(argument)[0] }

  /// Returns the texts of an argument that may be repeated: at least one unless it is optional.
  public func all(_ argument: ArgumentSpecification) -> [String] {
    guard let texts = arguments[argument.name] ?? (argument.isOptional ? [] : nil) else {
      preconditionFailure("\(name.rawValue) has no argument \(argument.name)")
    }
    return texts
  }
}
