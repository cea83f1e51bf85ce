// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Laboratory

extension EndToEndTests {
  @Suite(.serialized) struct SeekTests {
    /// A seek fades out over 10 ms and in over 20 ms. Between them, at most 40 ms are below -60 dB.
    @Test func seekIsAlmostWithoutSilence() throws {
      try PrivatePulseServer.withServer { server in
        let recorder = try SinkRecorder(server.address)
        let performance = try Performance(
          .tone, on: server.address, ["--tracker", "none"], hasTerminal: true)
        try performance.begin()
        sleepSeconds(0.8)
        var presses: [Int64] = []
        for key in ["\u{1B}[C", "\u{1B}[D", "\u{1B}[D", "\u{1B}[C", "\u{1B}[D", "\u{1B}[C"] {
          performance.program.type(key)
          presses.append(monotonicNow())
          sleepSeconds(0.7)
        }
        performance.program.type("q")
        #expect(performance.program.wait(seconds: 5) == 0)
        let recording = recorder.finish()
        for (press, end) in zip(presses, presses.dropFirst() + [presses[5] + 600_000_000]) {
          let silent = Self.silence(recording, from: press, to: end)
          print("seek: \(silent.longest) ms below -60 dB, \(silent.dip) ms below -3 dB")
          #expect(silent.longest <= 40)
          // Both fades together are below -3 dB for about 17 ms.
          #expect((5...60).contains(silent.dip))
        }
      }
    }

    /// Returns the longest time below -60 dB and all time below -3 dB of the tone's level [ms].
    private static func silence(
      _ recording: Recording, from start: Int64, to end: Int64
    ) -> (longest: Int, dip: Int) {
      // A period of the tone is 48 frames, 1 ms.
      let frames = stride(from: recording.frame(at: start), to: recording.frame(at: end), by: 48)
      let levels = frames.map { recording.level($0..<$0 + 48) }
      let usual = levels.sorted()[levels.count / 2]
      var (longest, run) = (0, 0)
      for level in levels {
        run = level < 1e-3 * usual ? run + 1 : 0
        longest = max(longest, run)
      }
      return (longest, levels.count { $0 < 0.708 * usual })
    }
  }
}
