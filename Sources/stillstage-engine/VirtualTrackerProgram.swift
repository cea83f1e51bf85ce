// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import Glibc

/// Runs this program's own command line again under a virtual head tracker, so that libhidapi finds it.
struct VirtualTrackerProgram {
  private let script: String
  private let engine: String
  private let rate: Double
  private static let packages = "apt install umockdev gir1.2-umockdev-1.0 python3-gi"

  init(_ command: ParsedCommand) throws(CommandFailure) {
    let environment = getenv("STILLSTAGE_DATA").map { String(cString: $0) }
    let files = ProgramFiles.ofThisProcess
    let folder = files?.dataFolder(option: command[Options.data], environment: environment)
    script = "\(folder ?? ".")/Calibration/virtual-tracker/virtual_tracker.py"
    engine = files.map { "\($0.folder)/stillstage-engine" } ?? ""
    rate = command[Options.benchTrackerRate]
    guard access(script, R_OK) == 0 else {
      throw CommandFailure("\(script) is missing; name the data folder with --data DIR")
    }
    guard access("/usr/bin/umockdev-wrapper", X_OK) == 0, Self.hasBindings else {
      throw CommandFailure("the virtual tracker needs optional packages: \(Self.packages)")
    }
  }

  private static var hasBindings: Bool {
    let program = """
      import gi; gi.require_version('UMockdev', '1.0'); from gi.repository import UMockdev
      """
    return HelperProgram.output(of: ["/usr/bin/python3", "-c", program]) != nil
  }

  /// Runs to the end and ends this process with the same exit code; a signal is handed on.
  func become() throws(CommandFailure) -> Never {
    var template = Array("/tmp/stillstage-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CommandFailure("no folder can be made in /tmp: \(String(cString: strerror(errno)))")
    }
    let folder = String(
      decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let socket = "\(folder)/head"
    let words =
      [
        "/usr/bin/umockdev-wrapper", "/usr/bin/python3", script, "--quiet", "--control", socket,
        "--rate", "\(rate)", "--", engine,
      ] + CommandLine.arguments.dropFirst()
    setenv(VirtualHead.variable, socket, 1)
    let status = Self.run(words)
    unlink(socket)
    rmdir(folder)
    guard let status else { throw CommandFailure("\(words[0]) cannot be started") }
    if Signals.received != nil { throw .interrupted }
    exit(status & 0x7f == 0 ? (status >> 8) & 0xff : ExitCode.failed.rawValue)
  }

  /// The wait status; nil where it cannot be started.
  private static func run(_ words: [String]) -> Int32? {
    var attributes = posix_spawnattr_t()
    var actions = posix_spawn_file_actions_t()
    posix_spawnattr_init(&attributes)
    posix_spawn_file_actions_init(&actions)
    defer {
      posix_spawnattr_destroy(&attributes)
      posix_spawn_file_actions_destroy(&actions)
    }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    // A group of its own: Ctrl-C comes here, and is handed on once.
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process = pid_t()
    guard posix_spawn(&process, words[0], &actions, &attributes, &arguments, environ) == 0 else {
      return nil
    }
    return wait(for: process)
  }

  private static func wait(for process: pid_t) -> Int32 {
    var (status, patience) = (Int32(0), 1000)
    while waitpid(process, &status, WNOHANG) != process {
      if Signals.received != nil {
        if patience == 1000 { kill(process, SIGTERM) }
        // Its group: the tracker and what runs under it.
        if patience == 0 { kill(-process, SIGKILL) }
        patience -= 1
      }
      usleep(10_000)
    }
    // Whatever of the group is left has lost its tracker.
    kill(-process, SIGKILL)
    return status
  }
}
