// SPDX-License-Identifier: Apache-2.0

import Charts
import CommandOptions
import CommandSupport

/// Runs `stillstage record`.
func recordCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let settings = try RecordSettings(command)
  try refuseOverwriting([], by: [settings.output, command[Options.events], command[Options.chart]])
  if let path = command[Options.chart] {
    do throws(ChartError) { try Chart.check(path: path) } catch {
      throw CommandFailure(error.description)
    }
  }
  let input = try settings.input(among: try currentInputs())
  let log = try EventLog(path: command[Options.events])
  let session = RecordSession(
    settings, input: input, command: command, log: log, console: Console())
  try session.run()
}
