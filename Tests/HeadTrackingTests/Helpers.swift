// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

struct HelperFailure: Error, CustomStringConvertible {
  var description: String
}

/// Temporary folders, files and links of a test, removed when it ends.
class FileTree {
  private let temporary = TemporaryFolder()
  var root: String { temporary.path }

  init() throws {}

  func folder(_ path: String) throws { try run("/bin/mkdir", ["-p", "\(root)/\(path)"]) }

  func link(_ path: String, to target: String) { symlink("\(root)/\(target)", "\(root)/\(path)") }

  func write(_ path: String, _ text: String) { write(path, Array((text + "\n").utf8)) }

  func write(_ path: String, _ bytes: [UInt8]) { _ = try? temporary.write(bytes, to: path) }
}

/// Runs a program until it exits; throws if it fails.
func run(_ program: String, _ arguments: [String]) throws {
  guard try ProgramRun.of(program, arguments).exitCode == 0 else {
    throw HelperFailure(description: "\(program) failed")
  }
}

extension RunningProgram {
  /// The text of all lines so far.
  var output: [String] { lines.map(\.text) }

  func send(_ line: String) { type(line + "\n") }

  /// Returns the first matching line from index `start` on. If none appears in time, throws an
  /// error with all lines so far.
  func line(
    from start: Int = 0, seconds: Double = 10, where fits: (String) -> Bool
  ) throws -> String {
    var found: String?
    _ = waitUntil(seconds: seconds) {
      let hasEnded = wait(seconds: 0) != nil
      found = output.dropFirst(start).first(where: fits)
      return found != nil || hasEnded
    }
    if let found { return found }
    throw Failure.nothingFits(waitedSeconds: seconds, lines: lines.map(\.text))
  }
}
