// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import CommandSupport
import Playback

/// Makes the renderers and the virtual sinks of `sink` from its options.
///
/// - Throws: a failure with the reason if an option is invalid or no server can be used.
func systemWideParts(_ command: ParsedCommand) throws(CommandFailure) -> SystemWideParts {
  _ = try RenderSettings(ofSink: command)
  throw CommandFailure(
    "this version has no virtual sinks yet; play files with 'stillstage play' instead")
}

/// Makes the clean-up of the server that `sink` would use.
///
/// - Throws: a failure with the reason if no server can be used.
func systemWideCleanUp(_ command: ParsedCommand) throws(CommandFailure) -> SystemWideCleanUp {
  throw CommandFailure("this version has no virtual sinks yet, so there is nothing to clean up")
}
