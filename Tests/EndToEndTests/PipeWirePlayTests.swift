// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Laboratory

extension EndToEndTests {
  /// Tests `play --output` with the server of a private user.
  @Suite(
    .serialized,
    .enabled(
      if: PrivatePipeWireServer.missingPackage == nil,
      "needs the Debian package '\(PrivatePipeWireServer.missingPackage ?? "")'"))
  struct PipeWirePlayTests {
    private let folder = TemporaryFolder()
    private let tone: String

    init() throws {
      let left = (0..<3 * Scene.sampleRate).map {
        0.2 * Float(sin(2 * Double.pi * 1000 * Double($0 % 48) / 48_000))
      }
      tone = folder.file("tone.wav")
      try FloatWAV(rate: Scene.sampleRate, channels: [left, left]).write(to: tone)
    }

    /// Returns the environment of a user whose sound server this is.
    private func environment(_ server: PrivatePipeWireServer) -> [String: String?] {
      var environment: [String: String?] = ["PULSE_SERVER": nil, "PIPEWIRE_REMOTE": nil]
      for name in ["XDG_RUNTIME_DIR", "PIPEWIRE_RUNTIME_DIR"] {
        environment[name] = server.environment[name]
      }
      return environment
    }

    /// Plays the tone. Returns the program's run and its first `connected` event.
    private func play(
      _ arguments: [String], _ environment: [String: String?]
    ) throws -> (run: ProgramRun, connected: String?) {
      let events = folder.file("events.jsonl")
      unlink(events)
      let run = try ProgramRun.of(
        Product.stillstage,
        ["play", tone, "--tracker", "none", "--events", events] + arguments,
        environment: environment)
      let text = (try? String(contentsOfFile: events, encoding: .utf8)) ?? ""
      return (
        run, text.split(separator: "\n").first { $0.contains("\"connected\"") }.map(String.init)
      )
    }

    /// Whether an event tells of a queue in the server, which is deeper than a cycle of PipeWire.
    private func hasQueue(_ connected: String?) throws -> Bool {
      struct Event: Decodable { let queueMilliseconds: Double }
      let text = try #require(connected)
      return try JSONDecoder().decode(Event.self, from: Data(text.utf8)).queueMilliseconds > 60
    }

    @Test func automaticChoicePlaysThroughPipeWire() throws {
      try PrivatePipeWireServer.withServer { server in
        let environment = environment(server)
        let native = try play([], environment)
        #expect(native.run.exitCode == 0, "\(native.run.errors)")
        let lines = native.run.errors.split(separator: "\n")
        #expect(lines.allSatisfy { $0.hasPrefix("stillstage: status: ") })
        #expect(try !hasQueue(native.connected))
        let pulse = try play(["--output", "pulse"], environment)
        #expect(pulse.run.exitCode == 0, "\(pulse.run.errors)")
        #expect(try hasQueue(pulse.connected))
        // Another server is respected, even if it does not answer.
        let other = environment.merging(["PULSE_SERVER": "unix:/nonexistent"]) { $1 }
        #expect(try play([], other).run.errors.contains("unix:/nonexistent"))
        // Routes are the same through both.
        let lists = try ["pipewire", "pulse", "auto"].map {
          try ProgramRun.of(
            Product.stillstage, ["routes", "--json", "--output", $0], environment: environment
          ).output
        }
        #expect(lists[0].contains("\"ears\""))
        #expect(lists[0] == lists[1] && lists[0] == lists[2])
      }
    }

    @Test func missingLibraryMeansPulseAudio() throws {
      try PrivatePipeWireServer.withServer { server in
        // The loader finds this file first, and it is no library.
        try folder.write("", to: "libpipewire-0.3.so.0")
        let environment = environment(server).merging(["LD_LIBRARY_PATH": folder.path]) { $1 }
        let pulse = try play([], environment)
        #expect(pulse.run.exitCode == 0, "\(pulse.run.errors)")
        #expect(try hasQueue(pulse.connected))
        let refused = try play(["--output", "pipewire"], environment).run
        #expect(refused.exitCode == 1)
        #expect(refused.errors.contains("libpipewire-0.3.so.0"))
        #expect(refused.errors.split(separator: "\n").count == 1)
      }
    }

    @Test func missingServerIsExplained() throws {
      let environment: [String: String?] = [
        "PULSE_SERVER": nil, "XDG_RUNTIME_DIR": folder.path, "PIPEWIRE_RUNTIME_DIR": nil,
      ]
      let run = try play(["--output", "pipewire"], environment).run
      #expect(run.exitCode == 1)
      #expect(run.errors.contains("PipeWire"))
      #expect(run.errors.contains(folder.path))
      #expect(run.errors.split(separator: "\n").count == 1)
    }
  }
}
