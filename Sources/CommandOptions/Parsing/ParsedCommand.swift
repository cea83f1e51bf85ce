// SPDX-License-Identifier: Apache-2.0

/// A command line that is right: the command and the values it was given.
public struct ParsedCommand: Sendable {
  public let command: CommandSpecification
  let arguments: [String: [String]]
  let values: [String: OptionValue]
  /// The user's own defaults, for options that were not given.
  var defaults: [String: OptionValue]

  public var name: CommandName { command.name }

  /// The option's value, or its default when it was not given. A required option may only be asked
  /// of a command that has it.
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

  /// Whether the option stands on the command line.
  public func isGiven<Value>(_ option: CommandOption<Value>) -> Bool {
    values[option.specification.name] != nil
  }

  /// The text of a positional argument, which must be one of the command's.
  public subscript(_ argument: ArgumentSpecification) -> String { all(argument)[0] }

  /// The texts of an argument that may be repeated; one at least unless it is optional.
  public func all(_ argument: ArgumentSpecification) -> [String] {
    guard let texts = arguments[argument.name] ?? (argument.isOptional ? [] : nil) else {
      preconditionFailure("\(name.rawValue) has no argument \(argument.name)")
    }
    return texts
  }
}
