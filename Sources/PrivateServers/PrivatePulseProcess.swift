// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Why a private server is not there.
public enum PrivatePulseError: Error, CustomStringConvertible {
  case missingProgram(String, package: String)
  case notStarted(String, log: String)
  case commandFailed(String, status: Int32, output: String)

  public var description: String {
    switch self {
    case .missingProgram(let program, let package):
      "\(program) is missing: apt-get install \(package)"
    case .notStarted(let program, let log): "\(program) did not start: \(log)"
    case .commandFailed(let command, let status, let output):
      "\(command) failed with status \(status): \(output)"
    }
  }
}

/// A child process that is ended by its id, and also when this process dies.
final class PrivatePulseProcess {
  let pid: pid_t
  private var guardian: pid_t = 0
  private var guardianInput: Int32 = -1
  private var hasEnded = false

  /// Starts `arguments[0]` (found in PATH) with both outputs appended to the file `log`.
  init(_ arguments: [String], environment: [String: String], log: String) throws {
    pid = try Self.spawn(arguments, environment: environment, log: log)
    try startGuardian()
  }

  deinit { end(signal: SIGTERM) }

  var isRunning: Bool { !hasEnded && kill(pid, 0) == 0 }

  func send(_ signal: Int32) {
    if !hasEnded { kill(pid, signal) }
  }

  /// Sends `signal`, then SIGKILL if the process is still there after a second, and reaps it.
  func end(signal: Int32) {
    guard !hasEnded else { return }
    hasEnded = true
    kill(pid, signal)
    kill(pid, SIGCONT)
    var waited = 0
    while waitpid(pid, nil, WNOHANG) == 0 {
      if waited == 200 { kill(pid, SIGKILL) }
      usleep(5000)
      waited += 1
    }
    endGuardian()
  }

  /// Runs a short command to its end; returns what it wrote to standard output and error.
  @discardableResult
  static func run(
    _ arguments: [String], environment: [String: String], directory: String
  ) throws -> String {
    let log = directory + "/command.log"
    unlink(log)
    let pid = try spawn(arguments, environment: environment, log: log)
    var status: Int32 = 0
    var waited = 0
    while waitpid(pid, &status, WNOHANG) == 0 {
      if waited == 1000 { kill(pid, SIGKILL) }
      usleep(5000)
      waited += 1
    }
    let output = readText(log)
    guard status == 0 else {
      throw PrivatePulseError.commandFailed(
        arguments.joined(separator: " "), status: status, output: output)
    }
    return output
  }

  /// A shell that waits for the end of its input, which comes when this process is gone.
  private func startGuardian() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    guardianInput = ends[1]
    guardian = try Self.spawn(
      ["/bin/sh", "-c", "read line; kill -KILL \(pid)"],
      environment: ["PATH": "/usr/bin:/bin"], log: "/dev/null", input: ends[0])
    close(ends[0])
  }

  private func endGuardian() {
    guard guardian > 0 else { return }
    kill(guardian, SIGKILL)
    waitpid(guardian, nil, 0)
    close(guardianInput)
    guardian = 0
  }

  private static func spawn(
    _ arguments: [String], environment: [String: String], log: String, input: Int32? = nil
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    // A program that holds signals back must not hand that down, nor a terminal's Ctrl-C: servers are
    // ended by their owner.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
    if let input {
      posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    let argv = arguments.map { strdup($0) } + [nil]
    let envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in argv + envp { free(text) } }
    var pid: pid_t = 0
    let result = posix_spawnp(&pid, arguments[0], &actions, &attributes, argv, envp)
    guard result == 0 else {
      throw PrivatePulseError.notStarted(arguments[0], log: String(cString: strerror(result)))
    }
    return pid
  }

  static func readText(_ path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[0..<count], as: UTF8.self)
  }
}
