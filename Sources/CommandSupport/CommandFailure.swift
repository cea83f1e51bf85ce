// SPDX-License-Identifier: Apache-2.0

package import CommandOptions
internal import Glibc

/// Parses the process's command line and runs the command, then ends the process with the command's
/// exit code.
///
/// - Parameters:
///   - program: the name of the executable, for error messages.
///   - perform: runs the parsed command.
package func run(
  _ program: String, _ perform: (ParsedCommand) throws(CommandFailure) -> Void
) -> Never {
  Signals.watch()
  // Writing to a closed pipe or beyond a file size limit must not end the process.
  signal(SIGPIPE, SIG_IGN)
  signal(SIGXFSZ, SIG_IGN)
  var code = ExitCode.done
  do throws(CommandFailure) {
    try perform(try givenCommand(program))
    if Signals.received != nil { code = CommandFailure.interrupted.code }
  } catch {
    code = error.code
    if let message = error.message { printError(message) }
  }
  exit(code.rawValue)
}

private func givenCommand(_ program: String) throws(CommandFailure) -> ParsedCommand {
  let invocation: Invocation
  do throws(UsageError) {
    invocation = try CommandParser.parse(Array(CommandLine.arguments.dropFirst()))
  } catch { throw .usage(error.description) }
  guard case .run(let given) = invocation else {
    throw .usage("\(program) is part of stillstage; run 'stillstage' instead")
  }
  return try withUserDefaults(given)
}

/// The exit codes of the executables.
package enum ExitCode: Int32 {
  case done = 0
  case failed = 1
  case wrongUsage = 2
  /// The terminal was closed (SIGHUP).
  case hungUp = 129
  case interrupted = 130
  case terminated = 143
}

/// The reason why a command ends early: an exit code and an optional line for stderr.
package struct CommandFailure: Error {
  package let message: String?
  let code: ExitCode

  package init(_ message: String) {
    self.message = message
    code = .failed
  }

  private init(message: String?, code: ExitCode) {
    self.message = message
    self.code = code
  }

  /// A failure whose messages have already been printed.
  package static let reported = CommandFailure(message: nil, code: .failed)

  package static func usage(_ message: String) -> CommandFailure {
    CommandFailure(message: message, code: .wrongUsage)
  }

  /// The failure of a command that a signal ended. It has no message.
  package static var interrupted: CommandFailure {
    let code = Signals.received.flatMap { ExitCode(rawValue: 128 + $0) }
    return CommandFailure(message: nil, code: code ?? .interrupted)
  }
}
