// SPDX-License-Identifier: Apache-2.0

/// What a command line asks for.
public enum Invocation: Sendable {
  case run(ParsedCommand)
  case help(HelpTopic)
  case version
  case manualPage
  case completion(Shell)
}

/// What help is about.
public enum HelpTopic: Sendable, Equatable {
  case overview
  /// The commands that begin with a word, such as `hrtf`.
  case group(String)
  case command(CommandSpecification)
}
