// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Laboratory

extension EndToEndTests {
  /// What long operations show on a terminal.
  @Suite(.serialized) struct ProgressTests {
    private func shown(
      _ arguments: [String], environment: [String: String?] = [:]
    ) throws -> String {
      let program = try RunningProgram(
        [Product.stillstage] + arguments, environment: environment, hasTerminal: true)
      #expect(program.wait(seconds: 30) != nil)
      return program.lines.map(\.text).joined(separator: "\n")
    }

    @Test func operationOfUnknownLengthShowsItsNameAndTime() throws {
      let folder = TemporaryFolder()
      let reader = try folder.write("#!/bin/sh\nexec sleep 60\n", to: "reader", mode: 0o755)
      let text = try shown(["hrtf", "info", "any.sofa"], environment: ["STILLSTAGE_SOFA": reader])
      #expect(text.contains("reading the HRTF set: 1 s"))
      #expect(text.contains("reading the HRTF set: 3 s"))
      // The line is cleared before the error.
      #expect(text.contains("\u{1B}[Kstillstage: "))
    }

    @Test func readingShowsPercentages() throws {
      let folder = TemporaryFolder()
      var recording = "t,gx,gy,gz,ax,ay,az\n"
      for row in 0..<1_000_000 { recording += "\(Double(row) / 1000),0,0.1,0,0,0,9.81\n" }
      let path = try folder.write(recording, to: "head.csv")
      // The command fails after it has read the file.
      let text = try shown(["fuse", path, "-o", folder.file("out.csv"), "--mag"])
      #expect(text.contains(" % read"))
      #expect(text.contains("has no columns mx,my,mz"))
    }

    @Test func benchShowsWhatItDoes() throws {
      let program = try RunningProgram([Product.stillstage, "bench", "upmix"], hasTerminal: true)
      func text() -> String { String(decoding: program.bytes, as: UTF8.self) }
      #expect(waitUntil(seconds: 60) { text().contains("measuring 1 of 3: ") }, "\(text())")
      kill(program.pid, SIGINT)
      #expect(program.wait(seconds: 20) != nil)
    }

    /// A server that does not answer.
    @Test(arguments: [
      (["sink"], "preparing the virtual sinks: 1 s"),
      (["inputs", "watch"], "asking the sound server: 1 s"),
      (["record", "-o", "any.wav"], "asking the sound server: 1 s"),
    ])
    func waitingForTheSoundServerIsShown(words: [String], line: String) throws {
      try PrivatePulseServer.withServer { server in
        let folder = TemporaryFolder()
        server.freeze()
        defer { server.thaw() }
        let program = try RunningProgram(
          [Product.stillstage] + words,
          environment: [
            "PULSE_SERVER": server.address, "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
            "PIPEWIRE_RUNTIME_DIR": folder.path, "PIPEWIRE_REMOTE": nil,
          ], hasTerminal: true)
        func text() -> String { String(decoding: program.bytes, as: UTF8.self) }
        #expect(waitUntil(seconds: 10) { text().contains(line) }, "\(text())")
        kill(program.pid, SIGINT)
        #expect(program.wait(seconds: 10) != nil)
      }
    }

    @Test func bridgeShowsThatItWaitsAndThenThePose() throws {
      let port = 20_000 + Int(getpid()) % 10_000
      let program = try RunningProgram(
        [Product.stillstage, "trackers", "bridge", "opentrack:\(port)", "osc://127.0.0.1:9"],
        hasTerminal: true)
      func text() -> String { String(decoding: program.bytes, as: UTF8.self) }
      #expect(waitUntil(seconds: 10) { text().contains("waiting for the first sample") })
      #expect(!text().contains("yaw"))
      // An OpenTrack datagram: six zeros.
      _ = try ProgramRun.of(
        "bash", ["-c", "head -c 48 /dev/zero > /dev/udp/127.0.0.1/\(port)"])
      #expect(waitUntil(seconds: 10) { text().contains("yaw") }, "\(text())")
      kill(program.pid, SIGINT)
      #expect(program.wait(seconds: 10) == 130)
    }

    @Test func quickOperationsShowNothing() throws {
      let text = try shown(["hrtf", "info", "/nonexistent.sofa"])
      #expect(text.contains("No such file"))
      #expect(!text.contains("reading the HRTF set:"))
    }
  }
}
