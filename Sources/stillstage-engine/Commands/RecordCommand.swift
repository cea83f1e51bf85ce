// SPDX-License-Identifier: Apache-2.0

import Charts
import CommandOptions
import CommandSupport
import System

func recordCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let settings = try RecordSettings(command)
  try refuseOverwriting(
    [hrtfFile(command)],
    by: [
      settings.output, command[Options.events], command[Options.chart],
      command[Options.saveMotion],
    ])
  if let path = command[Options.chart] {
    do throws(ChartError) { try Chart.check(path: path) } catch {
      throw CommandFailure(error.description)
    }
  }
  try record(settings, command)
}

func listenCommand(_ command: ParsedCommand) throws(CommandFailure) {
  try record(try RecordSettings(command), command)
}

private func record(
  _ settings: RecordSettings, _ command: ParsedCommand
) throws(CommandFailure) {
  // Otherwise, the memory use would grow during a recording that lasts for days.
  LargeBlocks.returnToSystem()
  var settings = settings
  let preparation = InputPreparation(command)
  defer { preparation.undo() }
  let input = try preparation.input(for: &settings)
  let log = try EventLog(path: command[Options.events])
  let session = try RecordSession(
    settings, input: input, preparation, command: command, log: log, console: Console())
  try session.run()
}
