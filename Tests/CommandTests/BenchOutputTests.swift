// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The output of the benches, and errors that they report before they measure.
@Suite struct BenchOutputTests {
  private static let benches = [
    ["bench", "render"], ["bench", "fusion", "/dev/null"], ["bench", "prediction", "/dev/null"],
    ["bench", "latency"], ["bench", "tracking-error"],
  ]

  @Test(arguments: benches)
  func chartsInUnknownFormatsAreRefused(_ bench: [String]) throws {
    let folder = TemporaryFolder()
    let run = try ProgramRun.of(
      Stillstage.path, bench + ["--chart", folder.file("a.pdf")], timeoutSeconds: 10)
    #expect(run.exitCode == 2)
    #expect(run.errors.contains("end in .svg or .png"), "\(run.errors)")
    #expect(access(folder.file("a.pdf"), F_OK) != 0)
  }

  @Test(arguments: benches)
  func unwritableChartsAreReportedBeforeMeasuring(_ bench: [String]) throws {
    let folder = TemporaryFolder()
    let run = try ProgramRun.of(
      Stillstage.path, bench + ["--chart", folder.file("none/a.svg")], timeoutSeconds: 10)
    #expect(run.exitCode == 1)
    #expect(run.errors.hasPrefix("stillstage: cannot write"), "\(run.errors)")
    #expect(run.output.isEmpty)
  }

  @Test func trackingErrorHasARowForEachMethodAndPath() throws {
    let folder = TemporaryFolder()
    let spin = stride(from: 0.0, through: 6, by: 0.01).map { time in
      // 90 degrees per second to the left.
      "\(time),\(cos(time * Double.pi / 4)),0,0,\(sin(time * Double.pi / 4))"
    }
    let path = try folder.write(
      (["t,w,x,y,z"] + spin).joined(separator: "\n") + "\n", to: "spin.csv")
    struct Row: Decodable {
      let motion: String
      let method: String
      let pathMilliseconds: Double
      let p95Degrees: Double
      let moments: Int
    }
    let run = try Stillstage.succeed(
      ["bench", "tracking-error", path, "--json", "--queue", "100", "--paths", "20,40"])
    let rows = try JSONDecoder().decode([Row].self, from: Data(run.output.utf8))
    #expect(
      rows.map(\.method) == ["neither", "rewriting", "prediction", "both"] + [
        "neither", "rewriting", "prediction", "both",
      ])
    #expect(rows.map(\.pathMilliseconds) == [20, 20, 20, 20, 40, 40, 40, 40])
    #expect(rows.allSatisfy { $0.motion == path && $0.moments > 1000 })
    // The error is speed times delay, plus the length of a block and the age of a sample.
    #expect(abs(rows[0].p95Degrees - 90 * 0.130) < 1.8, "\(rows)")
    #expect(rows[3].p95Degrees < 1 && rows[7].p95Degrees < 1)
    let table = try Stillstage.succeed(["bench", "tracking-error", path])
    #expect(table.output.contains("both/rewriting") && table.output.contains("spin.csv"))
  }
}
