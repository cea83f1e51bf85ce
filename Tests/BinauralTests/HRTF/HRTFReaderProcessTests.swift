// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import TestSupport
import Testing

@testable import Binaural

@Suite("A reader process that misbehaves")
struct HRTFReaderProcessTests {
  private func error(ofReader script: String, _ name: String, timeout: Double = 5) throws
    -> HRTFError
  {
    let loader = SofaLoader(
      readerPath: try HRTFFixtures.shared.script(script, name), timeoutSeconds: timeout)
    return try #require(throws: HRTFError.self) { try loader.load("any.sofa") }
  }

  @Test("A hanging reader is killed with its children and leaves no zombie")
  func hangingReaderIsKilledWithItsChildren() throws {
    let pidFile = HRTFFixtures.shared.freshPath("hang.pids")
    let start = monotonic_nanoseconds()
    let error = try error(
      ofReader: "sleep 60 &\necho $$ $! > \(pidFile)\nwait", "hang", timeout: 0.7)
    let seconds = Double(monotonic_nanoseconds() - start) / 1e9
    #expect(error == .timedOut(path: "any.sofa", seconds: 0.7))
    #expect(seconds < 5)
    let pids = String(decoding: try fileBytes(pidFile), as: UTF8.self).split(
      whereSeparator: \.isWhitespace)
    try #require(pids.count == 2)
    #expect(access("/proc/\(pids[0])", F_OK) != 0)
    // The orphan is killed too, but which process reaps it depends on the machine.
    #expect(Self.isGone(String(pids[1])))
  }

  @Test("A hanging reader that has closed its output is killed")
  func hangingReaderWithClosedOutputIsKilled() throws {
    let error = try error(ofReader: "exec >&-; exec sleep 60", "silent", timeout: 0.5)
    #expect(error == .timedOut(path: "any.sofa", seconds: 0.5))
  }

  @Test("The error names the signal that killed the reader")
  func readerKilledByASignalIsReportedAsCrashed() throws {
    let error = try error(ofReader: "kill -SEGV $$", "crash")
    #expect(error == .crashed(path: "any.sofa", signal: SIGSEGV))
    #expect(error.description.contains("killed the SOFA reader"))
  }

  @Test(
    "Malformed output is reported as a reader failure",
    arguments: ["exit 0", "echo STILSOFA", "echo hello; exit 1", "printf 'STILSOFA\\001\\0\\0\\0'"])
  func malformedOutputIsReportedAsReaderFailure(script: String) throws {
    let error = try error(ofReader: script, "nonsense-\(script.utf8.count)")
    guard case .readerFailed = error else {
      Issue.record("\(error)")
      return
    }
  }

  @Test("A missing or non-executable reader is reported with its path")
  func unusableReaderIsReportedWithItsPath() throws {
    let text = try HRTFFixtures.shared.write([0x31], "not-executable")
    for reader in ["/nonexistent/stillstage-sofa", text, "/tmp"] {
      let error = #expect(throws: HRTFError.self) {
        try SofaLoader(readerPath: reader).load("any.sofa")
      }
      #expect(error == .readerNotFound(places: [reader]))
    }
  }

  /// The answer does not fit into the pipe, so the reader waits until it is read.
  @Test("The reader ends with the process that started it, even if that is killed")
  func readerEndsWithItsParent() throws {
    let reader = try #require(SofaLoader.readerPlaces.first)
    let script = """
      import os, subprocess, sys, time
      os.environ["STILLSTAGE_PARENT"] = str(os.getpid())
      child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
      print("child", child.pid, flush=True)
      time.sleep(60)
      """
    let parent = try RunningProgram([
      "/usr/bin/python3", "-c", script, reader,
      HRTFFixtures.shared.path("samples-longest"),
    ])
    let child = try parent.line(with: "child ").text.dropFirst(6)
    usleep(300_000)
    #expect(access("/proc/\(child)", F_OK) == 0)
    kill(parent.pid, SIGKILL)
    #expect(Self.isGone(String(child)))
  }

  @Test("A reader whose parent has already ended does nothing")
  func readerWithoutItsParentDoesNothing() throws {
    let reader = try #require(SofaLoader.readerPlaces.first)
    let path = try HRTFFixtures.shared.path("plain")
    let orphan = try ProgramRun.of(reader, [path], environment: ["STILLSTAGE_PARENT": "1"])
    #expect(orphan.exitCode == 2)
    #expect(orphan.output == "")
    #expect(try ProgramRun.of(reader, [path]).exitCode == 0)
  }

  /// Waits up to 2 s for a process to end; returns true if it did.
  private static func isGone(_ pid: String) -> Bool {
    for _ in 0..<200 {
      guard let status = try? fileBytes("/proc/\(pid)/stat") else { return true }
      let text = String(decoding: status, as: UTF8.self)
      if text.contains(") Z ") || text.contains(") X ") { return true }
      usleep(10_000)
    }
    return false
  }
}
