// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import Glibc
import TestSupport
import Testing

/// Runs the built `stillstage` program.
@Suite struct EntryTests {
  private let entry = "\(ProgramRun.builtProducts)/stillstage"

  @Test func helpGoesToStandardOutput() throws {
    for arguments in [["--help"], ["help", "render"], ["render", "-h"]] {
      let run = try ProgramRun.of(entry, arguments)
      #expect(run.exitCode == 0)
      #expect(run.errors == "")
      #expect(run.output.contains("USAGE: stillstage "))
    }
    #expect(try ProgramRun.of(entry, ["--version"]).output == "stillstage \(Program.version)\n")
    #expect(try ProgramRun.of(entry, ["--man-page"]).output == ManualPage.text)
    #expect(
      try ProgramRun.of(entry, ["completion", "zsh"]).output == Shell.zsh.completion)
  }

  @Test(arguments: [
    ([], "missing command; see 'stillstage --help'"),
    (["plya"], "did you mean 'play'?"),
    (["play", "x", "--ordr", "3"], "unknown option '--ordr'; did you mean '--order'?"),
    (["play", "x", "--order", "8"], "from 1 to 7"),
  ])
  func usageErrorIsOneLineWithExitCode2(arguments: [String], expected: String) throws {
    let run = try ProgramRun.of(entry, arguments)
    #expect(run.exitCode == 2)
    #expect(run.output == (arguments.isEmpty ? HelpText.brief : ""))
    #expect(run.errors.hasPrefix("stillstage: "))
    #expect(run.errors.contains(expected))
    #expect(run.errors.filter { $0 == "\n" }.count == 1)
  }

  @Test func engineIsFoundInBinOrLibexecAndGetsTheArguments() throws {
    let folder = TemporaryFolder()
    for name in ["bin", "libexec", "libexec/stillstage"] { mkdir(folder.file(name), 0o755) }
    let copied = try ProgramRun.of("cp", [entry, folder.file("bin/stillstage")])
    #expect(copied.exitCode == 0)
    let installed = folder.file("bin/stillstage")

    let missing = try ProgramRun.of(installed, ["play", "x"])
    #expect(missing.exitCode == 1)
    #expect(missing.errors.hasPrefix("stillstage: stillstage-engine is "))
    #expect(missing.errors.filter { $0 == "\n" }.count == 1)

    let engine = "#!/bin/sh\necho engine \"$@\"\nexit 7\n"
    for place in ["libexec/stillstage/stillstage-engine", "bin/stillstage-engine"] {
      try folder.write("#!/bin/sh\necho \(place)\n" + engine, to: place, mode: 0o755)
      let run = try ProgramRun.of(installed, ["play", "a b", "--gain", "-6"])
      #expect(run.exitCode == 7)
      #expect(run.output == "\(place)\nengine play a b --gain -6\n")
    }
    symlink(installed, folder.file("linked"))
    #expect(try ProgramRun.of(folder.file("linked"), ["play", "x"]).exitCode == 7)

    try folder.write("no program", to: "bin/stillstage-engine", mode: 0o755)
    let broken = try ProgramRun.of(installed, ["play", "x"])
    #expect(broken.exitCode == 1)
    #expect(broken.errors.contains("cannot start"))
  }

  @Test func unwritableStandardOutputIsAnError() throws {
    let run = try ProgramRun.of("sh", ["-c", "'\(entry)' --help >/dev/full"])
    #expect(run.exitCode == 1)
    #expect(run.errors.hasPrefix("stillstage: cannot write to standard output"))
  }
}
