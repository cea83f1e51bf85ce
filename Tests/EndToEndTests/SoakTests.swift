// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import TestSupport
import Testing

@testable import Laboratory

extension EndToEndTests {
  /// Tests that the render call of the complete program allocates, locks and counts no references
  /// while it plays.
  ///
  /// STILLSTAGE_SOAK_MINUTES sets a longer duration (`make soak`).
  @Suite(.serialized) struct SoakTests {
    private static let minutes = getenv("STILLSTAGE_SOAK_MINUTES").flatMap {
      Double(String(cString: $0))
    }
    private static let seconds = minutes.map { $0 * 60 } ?? 5

    @Test func renderCallNeitherAllocatesNorLocksDuringPlayback() throws {
      try #require(
        access(Product.counted, X_OK) == 0, "stillstage-counted is not built: name it beside these")
      let folder = TemporaryFolder()
      let motion = folder.file("head.csv")
      try writeMotion(to: motion)
      try PrivatePulseServer.withServer { server in
        let soaks = try [
          Soak("first order", channels: 4, layout: "foa", motion, in: folder, on: server.address),
          Soak("5.1", channels: 6, layout: "5.1", motion, in: folder, on: server.address),
        ]
        try watch(soaks)
        // Both signals must make the program print its counters.
        for (soak, signal) in zip(soaks, [SIGINT, SIGTERM]) {
          let counts = try #require(soak.end(by: signal), "\(soak.name): no counters were printed")
          print(soak.summary(counts))
          #expect(soak.exitCode == 128 + signal)
          #expect(counts.operations == [0, 0, 0, 0, 0], "\(soak.name)")
          // About 20 calls per second are usual; at least 10 must occur.
          #expect(counts.calls > Int(10 * Self.seconds), "\(soak.name)")
          #expect(soak.performance.events.allSatisfy { !Soak.stops.contains($0.event) })
        }
      }
    }

    /// Waits while checking continuously that all programs still play.
    private func watch(_ soaks: [Soak]) throws {
      for soak in soaks { try soak.performance.begin() }
      let end = monotonicNow() + Int64(Self.seconds * 1e9)
      var lastReport = monotonicNow()
      while monotonicNow() < end {
        sleepSeconds(min(0.5, Self.seconds / 10))
        for soak in soaks {
          try #require(soak.performance.program.wait(seconds: 0) == nil, "\(soak.name) ended")
        }
        guard monotonicNow() - lastReport > 60_000_000_000 else { continue }
        lastReport = monotonicNow()
        print("\((end - lastReport) / 60_000_000_000 + 1) minutes to go")
      }
    }

    /// Writes a head motion that never stops: a turn of 90 degrees per second, with nodding.
    private func writeMotion(to path: String) throws {
      var text = "t,w,x,y,z\n"
      for row in 0...Int(8 * Self.seconds + 80) {
        let t = Double(row) / 8
        let (yaw, pitch) = (0.5 * t * Double.pi / 2, 0.15 * sin(1.3 * t))
        let (cy, sy, cp, sp) = (cos(yaw), sin(yaw), cos(pitch), -sin(pitch))
        text += "\(t),\(cy * cp),\(-sy * sp),\(cy * sp),\(sy * cp)\n"
      }
      let file = try #require(fopen(path, "w"))
      fputs(text, file)
      fclose(file)
    }

    /// A program that plays.
    private final class Soak {
      let name: String
      let performance: Performance
      private(set) var exitCode: Int32?
      /// The events that must not occur during playback.
      static let stops = ["finished", "source-failed", "server-lost", "sink-lost", "buffering"]

      struct Counts {
        var calls: Int
        /// Allocations, frees, locks, retains and releases.
        var operations: [Int]
      }

      init(
        _ name: String, channels: Int, layout: String, _ motion: String,
        in folder: TemporaryFolder, on server: String
      ) throws {
        self.name = name
        let path = folder.file("\(channels).flac")
        try Self.makeSound(path, channels: channels)
        performance = try Performance(
          executable: Product.counted, path: path, on: server,
          ["--layout", layout, "--block", "64", "--motion", motion])
      }

      /// Makes soft noise, different in each channel, and slightly longer than the playback.
      private static func makeSound(_ path: String, channels: Int) throws {
        let noises = (0..<channels).map { "anoisesrc=r=48000:a=0.004:seed=\($0 + 1)[n\($0)]" }
        let inputs = (0..<channels).map { "[n\($0)]" }.joined()
        let layout = channels == 4 ? "4.0" : "5.1"
        let graph =
          noises.joined(separator: ";")
          + ";\(inputs)amerge=inputs=\(channels),aformat=channel_layouts=\(layout)"
        let run = try ProgramRun.of(
          "ffmpeg",
          [
            "-v", "error", "-y", "-filter_complex", graph, "-t", "\(seconds + 10)",
            "-sample_fmt", "s16", "-compression_level", "0", path,
          ], timeoutSeconds: 300)
        try #require(run.exitCode == 0, "apt install ffmpeg: \(run.errors)")
      }

      /// Ends the program. Returns nil if it printed no counters.
      func end(by signal: Int32) -> Counts? {
        exitCode = performance.end(signal).code
        let line = performance.program.lines.last { $0.text.hasPrefix("render calls ") }
        let numbers = line?.text.split(separator: " ").compactMap {
          Int($0.hasSuffix(",") ? $0.dropLast() : $0)
        }
        guard let numbers, numbers.count == 6 else { return nil }
        return Counts(calls: numbers[0], operations: Array(numbers[1...]))
      }

      func summary(_ counts: Counts) -> String {
        let names = ["allocations", "frees", "locks", "retains", "releases"]
        let underruns = performance.events.last { $0.event == "underrun" }?.total ?? 0
        return "\(name), \(seconds) s, head turning: \(counts.calls) render calls, "
          + zip(names, counts.operations).map { "\($0) \($1)" }.joined(separator: ", ")
          + "; \(underruns) underruns"
      }
    }
  }
}
