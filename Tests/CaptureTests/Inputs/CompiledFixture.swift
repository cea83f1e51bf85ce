// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

/// The C files of `Tests/Fixtures`, compiled once per run.
enum CompiledFixture {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  static let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()

  private static let folder = TemporaryFolder()

  /// The library pulse_ports.c, to preload.
  static let pulsePorts = Result { try compile("pulse_ports", ["-shared", "-fPIC"], ["-ldl"]) }
  /// The library sco_link.c, to preload.
  static let headsetLink = Result {
    try compile("sco_link", ["-shared", "-fPIC"], ["-ldl", "-lm", "-lpthread"])
  }
  /// The program pipewire_card.c.
  static let pipeWireCard = Result {
    let flags = try ProgramRun.of("pkg-config", ["--cflags", "--libs", "libpipewire-0.3"])
    return try compile(
      "pipewire_card", [], flags.output.split { $0.isWhitespace }.map(String.init))
  }

  /// Whether there is a compiler.
  static let isPossible = (try? ProgramRun.of("cc", ["--version"]))?.exitCode == 0

  /// Compiles a file and returns the path of the result.
  private static func compile(
    _ name: String, _ options: [String], _ libraries: [String]
  ) throws -> String {
    let path = folder.file(name)
    let source = "\(root)/Tests/Fixtures/\(name).c"
    let run = try ProgramRun.of("cc", ["-O2"] + options + ["-o", path, source] + libraries)
    guard run.exitCode == 0 else { throw Failure(description: run.errors) }
    return path
  }
}
