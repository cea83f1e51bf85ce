// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

/// The reason why a private server could not start or be controlled.
public enum PrivatePulseError: Error, CustomStringConvertible {
  case missingProgram(String, package: String)
  case notStarted(String, log: String)
  case commandFailed(String, status: Int32, output: String)
  case commandTookTooLong(String, seconds: Int, output: String)

  public var description: String {
    switch self {
    case .missingProgram(let program, let package):
      "cannot find \(program); run 'apt install \(package)'"
    case .notStarted(let program, let log): "\(program) did not start: \(log)"
    case .commandFailed(let command, let status, let output):
      "\(command) failed with status \(status): \(output)"
    case .commandTookTooLong(let command, let seconds, let output):
      "\(command) did not end within \(seconds) s: \(output)"
    }
  }
}

/// A child process that ends when this object is released or the parent process dies.
final class PrivatePulseProcess {
  let name: String
  private let process: ChildProcess
  private var guardian: ProcessGuardian?
  private var hasEnded = false

  /// Starts the program `arguments[0]` (a path, or a name to find in PATH) and appends its output
  /// and errors to the file `log`.
  init(_ arguments: [String], environment: [String: String], log: String) throws {
    name = arguments[0]
    process = try Self.start(arguments, environment: environment, log: log)
    guardian = try ProcessGuardian(killing: process.id)
  }

  deinit { end(signal: SIGTERM) }

  var pid: Int32 { process.id }

  var isRunning: Bool { !hasEnded && kill(pid, 0) == 0 }

  func send(_ signal: Int32) {
    if !hasEnded { kill(pid, signal) }
  }

  /// Ends and reaps the process. Sends `signal`, and SIGCONT so that a stopped process acts on it.
  /// Sends SIGKILL if the process is still running after 1 s. A second call has no effect.
  func end(signal: Int32) {
    guard !hasEnded else { return }
    hasEnded = true
    kill(pid, signal)
    kill(pid, SIGCONT)
    if process.wait(seconds: 1, pauseMilliseconds: 5) == nil { process.destroy() }
    guardian = nil
  }

  private static let commandSeconds = 5

  /// Runs a command for at most `commandSeconds` and returns its standard output and error.
  ///
  /// - Parameter directory: where the output is stored, as `command.log`.
  /// - Throws: `PrivatePulseError` if the command cannot start, fails or takes too long.
  @discardableResult
  static func run(
    _ arguments: [String], environment: [String: String], directory: String
  ) throws -> String {
    let log = directory + "/command.log"
    unlink(log)
    let process = try start(arguments, environment: environment, log: log)
    let command = arguments.joined(separator: " ")
    guard let ending = process.wait(seconds: Double(commandSeconds), pauseMilliseconds: 5) else {
      process.destroy()
      throw PrivatePulseError.commandTookTooLong(
        command, seconds: commandSeconds, output: readText(log))
    }
    let output = readText(log)
    guard ending == .exited(0) else {
      throw PrivatePulseError.commandFailed(
        command, status: ending.code ?? -SIGKILL, output: output)
    }
    return output
  }

  /// Starts the process in its own group, so that Ctrl-C in a terminal does not end the servers.
  private static func start(
    _ arguments: [String], environment: [String: String], log: String
  ) throws -> ChildProcess {
    var launch = ProgramLaunch(arguments)
    launch.environment = environment.map { "\($0.key)=\($0.value)" }
    launch.output = .file(log, flags: O_WRONLY | O_CREAT | O_APPEND)
    launch.errors = .output
    launch.group = .own
    do throws(SystemError) { return try launch.start() } catch {
      throw PrivatePulseError.notStarted(arguments[0], log: error.description)
    }
  }

  static func readText(_ path: String) -> String {
    String(decoding: (try? SystemFile.contents(path, limit: 65_536)) ?? [], as: UTF8.self)
  }
}
