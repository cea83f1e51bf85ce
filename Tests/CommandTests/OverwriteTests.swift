// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import Media
import TestSupport
import Testing

/// A command never overwrites its input.
@Suite struct OverwriteTests {
  private let program = ProgramRun.builtProducts + "/stillstage"

  private func makeSound(_ path: String, sampleRate: Int = 48_000) throws {
    let sound = PlanarSignal(channelCount: 2, frames: 4800) { _, frame in Float(frame % 50) / 100 }
    let writer = try WAVWriter(path: path, layout: .stereo, sampleRate: sampleRate)
    try writer.write(planar: UnsafePointer(sound.channels), frames: 4800)
    try writer.close()
  }

  private func contents(_ path: String) -> [UInt8] {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    return Array(bytes.prefix(max(0, read(file, &bytes, bytes.count))))
  }

  @Test(arguments: [
    ["-o", "in.wav"], ["-o", "./link.wav"], ["-o", "new.wav", "--events", "in.wav"],
    ["-o", "head.csv", "--motion", "head.csv"], ["-o", "new.wav", "--events", "new.wav"],
  ])
  func outputsThatAreInputsAreRefused(arguments: [String]) throws {
    let folder = TemporaryFolder()
    try makeSound(folder.file("in.wav"))
    try makeSound(folder.file("head.csv"))
    symlink("in.wav", folder.file("link.wav"))
    let before = contents(folder.file("in.wav"))
    let paths = arguments.map { $0.hasPrefix("-") ? $0 : folder.file($0) }
    let run = try ProgramRun.of(program, ["render", folder.file("in.wav")] + paths)
    #expect(run.exitCode == 1)
    #expect(run.errors.contains("choose another output file"))
    #expect(run.errors.count { $0 == "\n" } == 1)
    for name in ["in.wav", "head.csv"] {
      let isIntact = contents(folder.file(name)) == before
      #expect(isIntact, "\(name)")
    }
    #expect(access(folder.file("new.wav"), F_OK) != 0)
  }

  @Test func oversizedOutputIsReportedAndRemoved() throws {
    let folder = TemporaryFolder()
    try makeSound(folder.file("in.wav"), sampleRate: 8_000)
    let run = try ProgramRun.of(
      "/bin/sh",
      [
        "-c", "ulimit -f 8; exec \"$0\" render \"$1/in.wav\" -o \"$1/out.wav\"", program,
        folder.path,
      ], timeoutSeconds: 100)
    #expect(run.exitCode == 1)
    #expect(run.errors.contains("cannot be written"))
    #expect(try ProgramRun.of("ls", ["-A", folder.path]).output == "in.wav\n")
  }
}
