// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import CommandSupport
import Glibc
import Laboratory
import System

/// Runs this command line again, with a virtual head tracker that libhidapi finds.
struct VirtualTrackerProgram {
  private let script: String
  private let program: String
  private let rate: Double
  private static let packages = "apt install umockdev gir1.2-umockdev-1.0 python3-gi"

  init(_ command: ParsedCommand) throws(CommandFailure) {
    let environment = getenv("STILLSTAGE_DATA").map { String(cString: $0) }
    let files = ProgramFiles.ofThisProcess
    let folder = files?.dataFolder(option: command[Options.data], environment: environment)
    script = "\(folder ?? ".")/Calibration/virtual-tracker/virtual_tracker.py"
    program = files.map { "\($0.folder)/stillstage-bench" } ?? ""
    rate = command[Options.benchTrackerRate]
    guard access(script, R_OK) == 0 else {
      throw CommandFailure("cannot read \(script); name the data folder with --data DIR")
    }
    guard access("/usr/bin/umockdev-wrapper", X_OK) == 0, Self.hasBindings else {
      throw CommandFailure(
        "cannot start the virtual tracker: umockdev or its Python bindings are missing; "
          + "run '\(Self.packages)'")
    }
  }

  private static var hasBindings: Bool {
    let check = """
      import gi; gi.require_version('UMockdev', '1.0'); from gi.repository import UMockdev
      """
    return HelperProgram.output(of: ["/usr/bin/python3", "-c", check]) != nil
  }

  /// Runs the virtual tracker, which runs the program. Exits with the exit code of that run, or
  /// with `failed` if a signal ended the run. If this process receives a signal, terminates the run
  /// and throws `interrupted`.
  func become() throws(CommandFailure) -> Never {
    var template = Array("/tmp/stillstage-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CommandFailure(
        "cannot create a folder in /tmp: \(String(cString: strerror(errno))); "
          + "check the permissions and the free space of /tmp")
    }
    let folder = String(
      decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let socket = "\(folder)/head"
    let words =
      [
        "/usr/bin/umockdev-wrapper", "/usr/bin/python3", script, "--quiet", "--control", socket,
        "--rate", "\(rate)", "--", program,
      ] + CommandLine.arguments.dropFirst()
    setenv(VirtualHead.variable, socket, 1)
    let ending = Self.run(words)
    unlink(socket)
    rmdir(folder)
    guard let ending else {
      throw CommandFailure("cannot start \(words[0]); close other programs and try again")
    }
    if Signals.received != nil { throw .interrupted }
    guard case .exited(let code) = ending else { exit(ExitCode.failed.rawValue) }
    exit(code)
  }

  /// Runs a program and returns how it ended; nil if it cannot be started. Terminates the program
  /// if this process receives a signal.
  private static func run(_ words: [String]) -> ProgramEnding? {
    var launch = ProgramLaunch(words)
    // In a separate process group, the program does not receive Ctrl-C.
    launch.group = .own
    guard let process = try? launch.start() else { return nil }
    let guardian = try? ProcessGuardian(killing: -process.id)
    defer { withExtendedLifetime(guardian) {} }
    var ending = process.wait(pauseMilliseconds: 10) { Signals.received == nil }
    if ending == nil {
      kill(process.id, SIGTERM)
      ending = process.wait(seconds: 10, pauseMilliseconds: 10)
    }
    // End the remaining processes of the group, which have lost their tracker.
    kill(-process.id, SIGKILL)
    return ending ?? process.wait()
  }
}
