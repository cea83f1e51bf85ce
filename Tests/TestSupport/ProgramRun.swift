// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A program that was run to its end: how it ended and what it wrote.
public struct ProgramRun: Sendable {
  /// The exit code, or minus the signal that ended the program.
  public let exitCode: Int32
  public let output: String
  public let errors: String

  public enum Failure: Error {
    case cannotStart(String, errno: Int32)
    case tookTooLong(String)
  }

  /// Runs `program` (a path, or a name that is looked for in PATH) with the environment of this
  /// process changed by `environment`; a `nil` takes the variable away. Its standard input is empty.
  public static func of(
    _ program: String, _ arguments: [String] = [], environment: [String: String?] = [:],
    timeoutSeconds: Double = 20
  ) throws -> ProgramRun {
    let output = unnamedFile()
    let errors = unnamedFile()
    defer {
      close(output)
      close(errors)
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    var process = pid_t()
    let status = withCStrings([program] + arguments) { argv in
      withCStrings(merged(environment)) { envp in
        posix_spawnp(&process, program, &actions, nil, argv, envp)
      }
    }
    guard status == 0 else { throw Failure.cannotStart(program, errno: status) }
    let exitCode = try wait(for: process, named: program, seconds: timeoutSeconds)
    return ProgramRun(exitCode: exitCode, output: text(of: output), errors: text(of: errors))
  }

  /// The folder of the running test program, where SwiftPM puts the package's executables too.
  public static var builtProducts: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
    let path = buffer[..<count].map { UInt8(bitPattern: $0) }
    return String(
      decoding: path.prefix(upTo: path.lastIndex(of: UInt8(ascii: "/")) ?? 0), as: UTF8.self)
  }

  private static func wait(for process: pid_t, named name: String, seconds: Double) throws -> Int32
  {
    let pause: useconds_t = 2000
    var status: Int32 = 0
    for _ in 0..<Int(seconds * 1_000_000 / Double(pause)) {
      if waitpid(process, &status, WNOHANG) == process {
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : -signal
      }
      usleep(pause)
    }
    kill(process, SIGKILL)
    waitpid(process, &status, 0)
    throw Failure.tookTooLong(name)
  }

  static func merged(_ changes: [String: String?]) -> [String] {
    // Tests keep out of the user's cache unless they bring one of their own.
    let changes = changes.merging(["STILLSTAGE_CACHE": "off"]) { chosen, _ in chosen }
    var variables: [String] = []
    var pointer = environ
    while let entry = pointer.pointee {
      let text = String(cString: entry)
      let name = String(text.prefix { $0 != "=" })
      if changes[name] == nil { variables.append(text) }
      pointer += 1
    }
    return variables + changes.compactMap { name, value in value.map { "\(name)=\($0)" } }
  }

  /// A temporary file for what the program writes: unlike a pipe it never has to be drained.
  private static func unnamedFile() -> Int32 {
    var template = Array("/tmp/stillstage-test-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    precondition(descriptor >= 0, "no temporary file: errno \(errno)")
    unlink(template)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }

  private static func text(of descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    lseek(descriptor, 0, SEEK_SET)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<count]
    }
  }

  private static func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var pointers = strings.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return body(&pointers)
  }
}
