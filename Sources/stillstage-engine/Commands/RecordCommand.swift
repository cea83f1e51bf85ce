// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import CommandSupport

/// Runs `stillstage record -o OUT`.
func recordCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let settings = try RecordSettings(command)
  try refuseOverwriting([], by: [settings.output, command[Options.events]])
  let input = try settings.input(among: try currentInputs())
  let log = try EventLog(path: command[Options.events])
  let session = RecordSession(
    settings, input: input, command: command, log: log, console: Console())
  try session.run()
}
