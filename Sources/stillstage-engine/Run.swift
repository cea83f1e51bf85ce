// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import CommandSupport

/// Performs a command. Throws a usage error if another executable implements the command.
func perform(_ command: ParsedCommand) throws(CommandFailure) {
  switch command.name {
  case .render: try renderCommand(command)
  case .play: try playCommand(command)
  case .fetch: try fetchCommand(command)
  case .sink: try sinkCommand(command)
  case .routes: try routesCommand(command)
  case .trackers: try trackersCommand(command)
  case .trackersWatch: try trackersWatchCommand(command)
  case .trackersCheck: try trackersCheckCommand(command)
  case .trackersBridge: try trackersBridgeCommand(command)
  case .hrtfInfo: try hrtfInfoCommand(command)
  case .hrtfExport: try hrtfExportCommand(command)
  case .calibrate: try calibrateCommand(command)
  case .fuse: try fuseCommand(command)
  case .inputs: try inputsCommand(command)
  case .inputsWatch: try inputsWatchCommand(command)
  case .inputsChoose: try inputsChooseCommand(command)
  case .record: try recordCommand(command)
  case .listen: try listenCommand(command)
  case .mixAnalyse: try mixAnalyseCommand(command)
  case .mixBake: try mixBakeCommand(command)
  case .mixProcess: try mixProcessCommand(command)
  case .demo: try demoCommand(command, play: playDemo)
  default:
    throw .usage(
      "'\(command.name.rawValue)' is not a command of this program; run it with stillstage")
  }
}
