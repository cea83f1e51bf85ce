// SPDX-License-Identifier: Apache-2.0

import Glibc
private import System

/// The result of a program that has ended: its exit code and output.
public struct ProgramRun: Sendable {
  /// The exit code, or the negated number of the signal that ended the program.
  public let exitCode: Int32
  public let output: String
  public let errors: String

  public enum Failure: Error {
    case cannotStart(String, errno: Int32)
    case tookTooLong(String)
  }

  /// Runs a program with empty standard input and waits for its end.
  ///
  /// - Parameters:
  ///   - program: a path, or a name to find in PATH.
  ///   - arguments: the arguments of the program.
  ///   - environment: changes to this process's environment; nil removes a variable.
  ///   - timeoutSeconds: the longest run before the test fails.
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
    var launch = ProgramLaunch([program] + arguments)
    launch.environment = merged(environment)
    launch.output = .descriptor(output)
    launch.errors = .descriptor(errors)
    let process: ChildProcess
    do throws(SystemError) { process = try launch.start() } catch {
      throw Failure.cannotStart(program, errno: error.number)
    }
    guard let ending = process.wait(seconds: timeoutSeconds) else {
      process.destroy()
      throw Failure.tookTooLong(program)
    }
    let exitCode = ending.code ?? 0
    return ProgramRun(exitCode: exitCode, output: text(of: output), errors: text(of: errors))
  }

  /// The folder of the running test program, which also contains the package's executables.
  public static var builtProducts: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
    let path = buffer[..<count].map { UInt8(bitPattern: $0) }
    return String(
      decoding: path.prefix(upTo: path.lastIndex(of: UInt8(ascii: "/")) ?? 0), as: UTF8.self)
  }

  static func merged(_ changes: [String: String?]) -> [String] {
    // Do not use the user's cache unless a test sets its own.
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

  /// Opens a temporary file for the program's output; unlike a pipe, it need not be drained.
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
}
