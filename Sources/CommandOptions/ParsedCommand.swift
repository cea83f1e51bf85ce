// SPDX-License-Identifier: Apache-2.0

/// A command line that is right: the command and the values it was given.
public struct ParsedCommand: Sendable {
  public let command: CommandSpecification
  let arguments: [String: String]
  let values: [String: OptionValue]

  public var name: CommandName { command.name }

  /// The option's value, or its default when it was not given. A required option may only be asked
  /// of a command that has it.
  public subscript<Value>(_ option: CommandOption<Value>) -> Value {
    if let given = values[option.specification.name], let value = option.convert(given) {
      return value
    }
    guard let value = option.defaultValue else {
      preconditionFailure("\(name.rawValue) has no --\(option.specification.name)")
    }
    return value
  }

  /// Whether the option stands on the command line.
  public func isGiven<Value>(_ option: CommandOption<Value>) -> Bool {
    values[option.specification.name] != nil
  }

  /// The text of a positional argument, which must be one of the command's.
  public subscript(_ argument: ArgumentSpecification) -> String {
    guard let text = arguments[argument.name] else {
      preconditionFailure("\(name.rawValue) has no argument \(argument.name)")
    }
    return text
  }
}
