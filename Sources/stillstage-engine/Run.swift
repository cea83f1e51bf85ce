// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import Glibc

/// Does what the command line says and ends the process with the exit code of the contract.
func run() -> Never {
  Signals.watch()
  // A reader that goes away is an error to be told, not a death.
  signal(SIGPIPE, SIG_IGN)
  // So is a file that may not grow on.
  signal(SIGXFSZ, SIG_IGN)
  let code: ExitCode
  do throws(CommandFailure) {
    code = try perform(Array(CommandLine.arguments.dropFirst()))
  } catch {
    code = error.code
    if let message = error.message { printError(message) }
  }
  exit(code.rawValue)
}

/// How a command ended.
enum ExitCode: Int32 {
  case done = 0
  case failed = 1
  case wrongUsage = 2
  /// The terminal was closed.
  case hungUp = 129
  case interrupted = 130
  case terminated = 143
}

/// What ends a command early: a line for stderr, if there is anything to say, and the exit code.
struct CommandFailure: Error {
  let message: String?
  let code: ExitCode

  init(_ message: String) {
    self.message = message
    code = .failed
  }

  private init(message: String?, code: ExitCode) {
    self.message = message
    self.code = code
  }

  static func usage(_ message: String) -> CommandFailure {
    CommandFailure(message: message, code: .wrongUsage)
  }

  /// Ended by a signal.
  static var interrupted: CommandFailure {
    let code = Signals.received.flatMap { ExitCode(rawValue: 128 + $0) }
    return CommandFailure(message: nil, code: code ?? .interrupted)
  }
}

private func perform(_ arguments: [String]) throws(CommandFailure) -> ExitCode {
  let invocation: Invocation
  do throws(UsageError) {
    invocation = try CommandParser.parse(arguments)
  } catch { throw .usage(error.description) }
  guard case .run(let given) = invocation else {
    throw .usage("stillstage-engine does the work of stillstage; run that")
  }
  let command = try withUserDefaults(given)
  switch command.name {
  case .render: try renderCommand(command)
  case .play: try playCommand(command)
  case .fetch: try fetchCommand(command)
  case .routes: try routesCommand(command)
  case .trackers: try trackersCommand(command)
  case .trackersWatch: try trackersWatchCommand(command)
  case .trackersBridge: try trackersBridgeCommand(command)
  case .hrtfInfo: try hrtfInfoCommand(command)
  case .hrtfExport: try hrtfExportCommand(command)
  case .calibrate: try calibrateCommand(command)
  case .fuse: try fuseCommand(command)
  case .benchRender: try benchRenderCommand(command)
  case .benchFusion: try benchFusionCommand(command)
  case .benchPrediction: try benchPredictionCommand(command)
  case .benchLatency: try benchLatencyCommand(command)
  case .benchTrackingError: try benchTrackingErrorCommand(command)
  case .benchSpeakers: try benchSpeakersCommand(command)
  case .benchUpmix: try benchUpmixCommand(command)
  case .benchAdaptation: try benchAdaptationCommand(command)
  case .demo: try demoCommand(command, play: playDemo)
  default: throw .usage("no such command")
  }
  return Signals.received == nil ? .done : CommandFailure.interrupted.code
}
