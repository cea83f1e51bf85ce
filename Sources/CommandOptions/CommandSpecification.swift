// SPDX-License-Identifier: Apache-2.0

/// A command with everything it accepts.
public struct CommandSpecification: Sendable, Equatable {
  public let name: CommandName
  /// One line for lists.
  public let summary: String
  /// Whole sentences for the command's own help and the manual page.
  public let discussion: String
  public let arguments: [ArgumentSpecification]
  public let options: [OptionSpecification]

  /// The words that name the command: `["hrtf", "info"]`.
  public var path: [String] { name.rawValue.split(separator: " ").map(String.init) }

  /// "stillstage render INPUT -o OUT.wav [options]"
  public var usage: String {
    let required = options.filter(\.isRequired).map(\.usage)
    let optional = options.filter { !$0.isRequired }
    let rest = optional.count > 2 ? ["[options]"] : optional.map(\.usage)
    return (["stillstage"] + path + arguments.map(\.name) + required + rest)
      .joined(separator: " ")
  }
}
