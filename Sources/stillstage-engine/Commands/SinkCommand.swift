// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import CommandSupport
import Playback
import SoundServer

func sinkCommand(_ command: ParsedCommand) throws(CommandFailure) {
  if command[Options.json], !command[Options.sinkStatus] {
    throw .usage("--json works only with --status; add --status, or omit --json")
  }
  let folder = try RuntimeFolder.ofThisProcess()
  if command.controlsSink {
    try refuseStartOptions(command)
    if command[Options.cleanUp] { return try cleanUp(command, folder) }
    return try control(command, folder)
  }
  let session = SinkSession(
    in: folder, settings: try settings(command), isQuiet: command[Options.quiet])
  let console = Console()
  try session.run(on: console) { () throws(CommandFailure) in
    try systemWideParts(command)
  }
}

/// Throws a usage error if `--clean-up` is combined with an action on an instance, or if one of the
/// options that work only when an instance starts is given: `--layouts`, `--sink`, `--default`,
/// `--roles` or `--tracker`.
private func refuseStartOptions(_ command: ParsedCommand) throws(CommandFailure) {
  let isGiven = [
    ("layouts", command.isGiven(Options.sinkLayouts)), ("sink", command.isGiven(Options.sink)),
    ("default", command.isGiven(Options.takesDefault)),
    ("roles", command.isGiven(Options.sinkRoles)),
    ("tracker", command.isGiven(Options.tracker)),
  ]
  if let (name, _) = isGiven.first(where: \.1) {
    throw .usage(
      "--\(name) works only when an instance starts; omit it here, or end any running instance and "
        + "start one with --\(name)")
  }
  let controls = [Options.sinkStatus, Options.recentre].contains { command[$0] }
  if command[Options.cleanUp], controls || command.isGiven(Options.sinkMode) {
    throw .usage("--clean-up cannot be combined with --status, --recentre or --mode; omit them")
  }
}

private func control(
  _ command: ParsedCommand, _ folder: RuntimeFolder
) throws(CommandFailure) {
  if command[Options.recentre] { try ask(.recentre, folder) }
  if command.isGiven(Options.sinkMode) {
    try ask(.mode(StageMode(command[Options.sinkMode])), folder)
  }
  guard command[Options.sinkStatus] else { return }
  guard case .status(let record) = try ask(.status, folder) else {
    throw CommandFailure("the running system-wide output did not report its state; restart it")
  }
  if command[Options.json] { return try printJSON(record) }
  try printOutput(SinkText.status(record))
}

@discardableResult
private func ask(
  _ request: ControlRequest, _ folder: RuntimeFolder
) throws(CommandFailure) -> ControlAnswer {
  let answer = try ControlClient.ask(request, in: folder)
  if case .error(let reason) = answer {
    throw CommandFailure("the running system-wide output refused the request: \(reason)")
  }
  return answer
}

private func cleanUp(
  _ command: ParsedCommand, _ folder: RuntimeFolder
) throws(CommandFailure) {
  try folder.create()
  let lock = try SinkSession.lock(in: folder)
  defer { withExtendedLifetime(lock) {} }
  let cleanUp = systemWideCleanUp(command)
  do throws(SoundServerError) {
    try cleanUp.run(previousDefault: SinkState.read(in: folder)?.defaultSink)
  } catch { throw CommandFailure(error.message) }
  SinkFiles.removeLeftovers(in: folder)
}

private func settings(
  _ command: ParsedCommand
) throws(CommandFailure) -> SystemWideOutput.Settings {
  var settings = SystemWideOutput.Settings()
  let layouts = command[Options.sinkLayouts].compactMap { SinkLayout(rawValue: $0.rawValue) }
  settings.layouts = Set(layouts).sorted()
  settings.sinkName = command[Options.sink]
  if let name = settings.sinkName, SinkLayout.isOurs(name) {
    throw .usage(
      "--sink must name a real output, but '\(name)' is a virtual sink; choose another output")
  }
  settings.takesDefault = command[Options.takesDefault]
  settings.roles = RoleTreatments(command[Options.sinkRoles])
  return settings
}
