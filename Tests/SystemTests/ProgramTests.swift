// SPDX-License-Identifier: Apache-2.0

import Glibc
import System
import TestSupport
import Testing

@Suite struct ProgramTests {
  private func shell(_ text: String) -> [String] { ["/bin/sh", "-c", text] }

  @Test func outputAndExitCodeAreCaptured() throws {
    let result = try #require(CapturedProgram(shell("echo one; exit 3")).run())
    #expect(result.output == Array("one\n".utf8))
    #expect(result.ending == .exited(3))
    #expect(result.ending.code == 3)
  }

  @Test func killedProgramReportsItsSignal() throws {
    let result = try #require(CapturedProgram(shell("echo one; kill -KILL $$")).run())
    #expect(result.output == Array("one\n".utf8))
    #expect(result.ending == .signalled(SIGKILL))
    #expect(result.ending.code == -SIGKILL)
  }

  @Test(arguments: ["/nonexistent/program", "stillstage-no-such-program"])
  func missingProgramIsReported(name: String) {
    #expect(CapturedProgram([name]).run() == nil)
    #expect(throws: SystemError(number: ENOENT)) { try ProgramLaunch([name]).start() }
  }

  @Test func outputSizeIsLimited() throws {
    let result = try #require(
      CapturedProgram(["yes"], timeoutSeconds: 10, maximumBytes: 100_000).run())
    #expect(result.ending == .tooMuchOutput)
    #expect(result.output.count <= 100_000)
  }

  @Test func timeoutKillsTheProgramAndItsChildren() throws {
    let start = ContinuousClock.now
    let program = CapturedProgram(shell("sleep 60 & echo $!; sleep 60"), timeoutSeconds: 0.3)
    let result = try #require(program.run())
    #expect(result.ending == .timedOut)
    #expect(ContinuousClock.now - start < .seconds(10))
    let text = String(decoding: result.output, as: UTF8.self)
    let grandchild = try #require(Int32(text.filter(\.isNumber)))
    let isGone = waitUntil(seconds: 5) { !Self.runs(grandchild) }
    #expect(isGone)
  }

  /// A program that hardly gets a processor is not stopped for it. Two programs of a higher
  /// priority keep the same processor busy.
  @Test func waitForAProcessorDoesNotCount() throws {
    let spinners = try (0..<2).map { _ in
      try ProgramLaunch(["taskset", "-c", "0", "sh", "-c", "while :; do :; done"]).start()
    }
    defer { for spinner in spinners { spinner.destroy() } }
    let start = ContinuousClock.now
    let result = try #require(
      CapturedProgram(
        ["nice", "-n", "19", "taskset", "-c", "0", "seq", "100000"], timeoutSeconds: 0.1
      ).run())
    #expect(result.ending == .exited(0))
    #expect(result.output.count == 588_895)
    #expect(ContinuousClock.now - start > .seconds(0.1))
  }

  @Test func exitIsAwaitedAfterTheOutputCloses() throws {
    let result = try #require(CapturedProgram(shell("exec >&-; sleep 0.2; exit 4")).run())
    #expect(result.ending == .exited(4))
  }

  @Test func runCanBeCancelled() throws {
    let program = CapturedProgram(shell("sleep 60"), isCancelled: { true })
    #expect(try #require(program.run()).ending == .cancelled)
  }

  @Test func descriptorsAreNotInherited() throws {
    let open = dup(2)
    defer { close(open) }
    let result = try #require(CapturedProgram(shell("ls /proc/$$/fd; true")).run())
    let numbers = String(decoding: result.output, as: UTF8.self).split(separator: "\n")
    #expect(Set(numbers).isSubset(of: ["0", "1", "2"]))
  }

  @Test func programReceivesOnlyTheGivenEnvironment() throws {
    let program = CapturedProgram(["/usr/bin/env"], environment: ["A=1", "B=two words"])
    #expect(try #require(program.run()).output == Array("A=1\nB=two words\n".utf8))
  }

  @Test func standardStreamsAreRedirected() throws {
    let folder = TemporaryFolder()
    let input = try folder.write("in", to: "in")
    var launch = ProgramLaunch(shell("cat; echo out; echo err >&2"))
    launch.input = .file(input, flags: O_RDONLY)
    launch.output = .file(folder.file("log"), flags: O_WRONLY | O_CREAT | O_APPEND)
    launch.errors = .output
    #expect(try launch.start().wait(seconds: 10) == .exited(0))
    #expect(try SystemFile.contents(folder.file("log")) == Array("inout\nerr\n".utf8))
  }

  @Test func waitCanTimeOutOrBeStopped() throws {
    let process = try ProgramLaunch(["sleep", "60"]).start()
    #expect(process.wait(seconds: 0.05) == nil)
    #expect(process.wait(while: { false }) == nil)
    process.destroy()
    #expect(process.ending() == .unknown)
  }

  @Test func releasedGuardianDoesNotKillItsTarget() throws {
    let process = try ProgramLaunch(["sleep", "60"]).start()
    var guardian: ProcessGuardian? = try ProcessGuardian(killing: process.id)
    #expect(guardian != nil)
    guardian = nil
    #expect(process.wait(seconds: 0.1) == nil)
    process.destroy()
  }

  private static func runs(_ id: Int32) -> Bool {
    guard let bytes = try? SystemFile.contents("/proc/\(id)/stat") else { return false }
    return !String(decoding: bytes, as: UTF8.self).contains(") Z ")
  }
}
