// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

extension EndToEndTests {
  /// Tests `stillstage bench latency` with the complete chain.
  @Suite(.serialized) struct LatencyBenchTests {
    private struct Report: Decodable {
      struct Spread: Decodable {
        let count: Int
        let minimum: Double
        let p50: Double
      }
      struct Stages: Decodable {
        let report, fusion, wait, queue, begin, turn: Spread
      }
      struct Capture: Decodable {
        let differenceMilliseconds: Double
        let spreadMilliseconds: Double
      }
      struct Injected: Decodable {
        let milliseconds: Double
        let foundMilliseconds: Double
        let uncertaintyMilliseconds: Double
      }
      struct Chain: Decodable {
        let unreadableSteps: Int
        let latency, begin, settled, queue: Spread
        let stages: Stages
        let capture: Capture
        let injected: Injected?
        let latencies: [Double]
      }
      struct Row: Decodable {
        let blockFrames: Int
        let halfFrames: Double
        let soundLatencyFrames: Int
      }
      let chains: [Chain]
      let renderer: [Row]
    }

    private func report(_ arguments: [String]) throws -> Report {
      let run = try ProgramRun.of(
        Product.stillstage, ["bench", "latency", "--json"] + arguments, timeoutSeconds: 240)
      try #require(run.exitCode == 0, "\(run.errors)")
      return try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
    }

    @Test func benchMeasuresTenTurnsAndTheirStages() throws {
      let report = try report(["--steps", "10", "--appended", "--queue", "100"])
      let chain = try #require(report.chains.first)
      #expect(chain.latencies.count + chain.unreadableSteps == 10)
      #expect(chain.latencies.count >= 5)
      #expect(chain.begin.p50 <= chain.latency.p50 && chain.latency.p50 <= chain.settled.p50)
      // Without rewriting, a turn is audible only after the queue has played.
      #expect(chain.latency.p50 > 0.7 * chain.queue.p50)
      #expect(chain.latency.p50 < chain.queue.p50 + 100)
      // The stages add up to the latency.
      let stages = chain.stages
      let sum = [
        stages.report, stages.fusion, stages.wait, stages.queue, stages.begin, stages.turn,
      ]
      .reduce(0) { $0 + $1.p50 }
      #expect(abs(sum - chain.latency.p50) < 15, "\(sum) \(chain.latency.p50)")
      #expect(stages.report.minimum > 0 && stages.fusion.minimum > 0)
      #expect(abs(chain.capture.differenceMilliseconds) < 5)
      for row in report.renderer {
        // The sum of the limiter's look-ahead, the ramp between two grid points and the delay from
        // the source to the ear in the filters. None of them depends on the block size.
        let filters = row.halfFrames - Double(row.soundLatencyFrames)
        #expect(filters > 8 && filters < 240, "\(row)")
        #expect(abs(row.halfFrames - report.renderer[0].halfFrames) < 12, "\(row)")
      }
      #expect(report.renderer.map(\.blockFrames) == [64, 128, 256, 512, 1024])
    }

    @Test func injectedDelayIsMeasured() throws {
      var found: Report.Injected?
      // The reported error shows if the machine is busy with other work.
      try whileBroken {
        let report = try report(["--steps", "64", "--queue", "150", "--inject-delay", "50"])
        found = report.chains.first?.injected
        return found.map { $0.uncertaintyMilliseconds > 0.5 } ?? true
      }
      let injected = try #require(found)
      print(
        "injected 50 ms, found", injected.foundMilliseconds, "+-",
        injected.uncertaintyMilliseconds)
      #expect(injected.milliseconds == 50)
      #expect(
        abs(injected.foundMilliseconds - 50) < max(1, 3 * injected.uncertaintyMilliseconds))
    }

    /// Every process that was started ends: the server, the tracker and their children.
    @Test func controlCEndsAllProcesses() throws {
      let program = try RunningProgram([Product.stillstage, "bench", "latency", "--json"])
      // Wait until a server and a tracker run.
      let isRunning = waitUntil(seconds: 30) {
        usleep(100_000)
        return Self.descendants(of: program.pid).count >= 4
      }
      #expect(isRunning)
      sleepSeconds(2)
      let started = Self.descendants(of: program.pid)
      kill(program.pid, SIGINT)
      #expect(program.wait(seconds: 15) == 130)
      let haveEnded = waitUntil(seconds: 5) { started.allSatisfy { !Self.isAlive($0) } }
      #expect(haveEnded, "\(started.filter(Self.isAlive))")
      #expect(program.lines.isEmpty, "\(program.lines)")
    }

    private static func isAlive(_ pid: pid_t) -> Bool {
      guard kill(pid, 0) == 0, let stat = stat(of: pid) else { return false }
      return stat.state != "Z"
    }

    private static func descendants(of root: pid_t) -> [pid_t] {
      var parents: [pid_t: pid_t] = [:]
      for name in SystemFile.names(in: "/proc") ?? [] {
        if let pid = pid_t(name), let stat = stat(of: pid) { parents[pid] = stat.parent }
      }
      var found: [pid_t] = []
      var next = [root]
      while let parent = next.popLast() {
        let children = parents.filter { $0.value == parent }.map(\.key)
        found += children
        next += children
      }
      return found
    }

    private static func stat(of pid: pid_t) -> (state: Substring, parent: pid_t)? {
      guard let data = try? Data(contentsOf: URL(filePath: "/proc/\(pid)/stat")) else { return nil }
      // The process name in brackets may contain any character.
      let fields = String(decoding: data, as: UTF8.self).split(separator: ")").last?
        .split(separator: " ")
      guard let fields, fields.count > 1, let parent = pid_t(fields[1]) else { return nil }
      return (fields[0], parent)
    }
  }
}
