// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Tests `stillstage bench render`.
@Suite(.serialized) struct BenchTests {
  private struct Report: Decodable {
    struct Row: Decodable {
      let renderer: String
      let path: String
      let order: Int
      let blockFrames: Int
      let taps: Int
      let millisecondsPerSecond: Double
      let shareOfLimit: Double?
    }
    struct Ratio: Decodable {
      let name: String
      let value: Double
    }
    let instructionSet: String
    let peakGigaFLOPS: Double
    let rows: [Row]
    let ratios: [Ratio]
  }

  private func report(_ environment: [String: String?]) throws -> Report {
    let run = try ProgramRun.of(
      Stillstage.path,
      ["bench", "render", "--quick", "--orders", "1", "--blocks", "32,128", "--json"],
      environment: environment, timeoutSeconds: 60)
    try #require(run.exitCode == 0, "\(run.errors)")
    return try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
  }

  @Test func reportHasTheRequestedRows() throws {
    let report = try report(["STILLSTAGE_PEERS": nil])
    let own = report.rows.filter { $0.renderer == "decoder" }
    #expect(own.map(\.blockFrames) == [32, 32, 128, 128])
    #expect(own.map(\.path) == ["full", "symmetric", "full", "symmetric"])
    #expect(report.rows.allSatisfy { $0.order == 1 && $0.millisecondsPerSecond > 0 })
    // No program can do the arithmetic faster than the peak rate of the core.
    #expect(report.rows.allSatisfy { $0.shareOfLimit.map { $0 > 0 && $0 < 1 } ?? false })
    #expect(report.peakGigaFLOPS > 1)
    #expect(Set(report.rows.map(\.renderer)) == ["decoder", "renderer", "reference"])
    let reference = try #require(report.rows.first { $0.renderer == "reference" })
    let whole = try #require(report.rows.first { $0.renderer == "renderer" })
    #expect(reference.millisecondsPerSecond > 5 * whole.millisecondsPerSecond)
  }

  @Test func instructionSetCanBeChosen() throws {
    let report = try report(["STILLSTAGE_PEERS": nil, "STILLSTAGE_SIMD": "baseline"])
    #expect(report.instructionSet == "baseline")
  }

  /// A peer that reports a second of CPU time per second of sound.
  @Test func peersAreIncludedInTheComparison() throws {
    let folder = TemporaryFolder()
    try makePeer("peer-bare-loop", "echo 512 1000", in: folder)
    let report = try report(["STILLSTAGE_PEERS": folder.path])
    let loops = report.rows.filter { $0.renderer == "bare-loop" }
    #expect(loops.count == 4 && loops.allSatisfy { $0.millisecondsPerSecond == 1000 })
    let own = try #require(
      report.rows.first { $0.renderer == "decoder" && $0.blockFrames == 128 && $0.path == "full" })
    let ratio = try #require(report.ratios.first { $0.name.contains("128, full: our cost") })
    #expect(abs(ratio.value - own.millisecondsPerSecond / 1000) < 1e-9)
  }

  /// Ctrl-C works even while a peer runs that never finishes.
  @Test func controlCEndsTheBench() throws {
    let folder = TemporaryFolder()
    try makePeer("peer-bare-loop", "exec sleep 60", in: folder)
    let program = try RunningProgram(
      [Stillstage.path, "bench", "render", "--json"], environment: ["STILLSTAGE_PEERS": folder.path]
    )
    usleep(1_500_000)
    kill(program.pid, SIGINT)
    #expect(program.wait(seconds: 5) == 130)
    #expect(program.lines.isEmpty)
  }

  private func makePeer(_ name: String, _ script: String, in folder: TemporaryFolder) throws {
    let path = folder.file(name)
    let file = try #require(fopen(path, "w"))
    fputs("#!/bin/sh\n\(script)\n", file)
    fclose(file)
    chmod(path, 0o755)
  }
}
