// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Tests `--headphones`, `--head-circumference`, `--speakers` and `bench speakers`.
@Suite struct HeadphoneCommandTests {
  private let folder = TemporaryFolder()

  /// Renders a click in the left channel of stereo with the given options.
  private func render(
    _ options: [String], environment: [String: String?] = [:]
  ) throws -> (run: ProgramRun, ears: [[Float]]) {
    let click = [Float](repeating: 0, count: 100) + [1] + [Float](repeating: 0, count: 899)
    let input = try folder.write(
      FloatWAV(channels: [click, click.map { _ in 0 }]).bytes(), to: "in.wav")
    let output = folder.file("out.wav")
    unlink(output)
    let run = try ProgramRun.of(
      Stillstage.path, ["render", input, "-o", output] + options, environment: environment,
      timeoutSeconds: 60)
    return (run, (try? FloatWAV(reading: output))?.channels ?? [])
  }

  /// Returns the difference in dB between `found` and `before` filtered by the cookbook's peaking
  /// filter, computed as a difference equation and scaled by the best-fitting gain.
  private func residual(_ found: [Float], _ before: [Float]) -> Double {
    let (w, a) = (2 * Double.pi * 1500 / 48000, pow(10.0, 9.0 / 40))
    let alpha = sin(w) / (2 * 0.8)
    let a0 = 1 + alpha / a
    let b = [(1 + alpha * a) / a0, -2 * cos(w) / a0, (1 - alpha * a) / a0]
    let back = [-2 * cos(w) / a0, (1 - alpha / a) / a0]
    var truth: [Double] = []
    for n in found.indices {
      var y = 0.0
      for k in 0...2 where n >= k && n - k < before.count { y += b[k] * Double(before[n - k]) }
      for k in 1...2 where n >= k { y -= back[k - 1] * truth[n - k] }
      truth.append(y)
    }
    let gain =
      zip(found, truth).reduce(0) { $0 + Double($1.0) * $1.1 }
      / truth.reduce(0) { $0 + $1 * $1 }
    let error = zip(found, truth).reduce(0) {
      $0 + (Double($1.0) - gain * $1.1) * (Double($1.0) - gain * $1.1)
    }
    return 10 * log10(error / found.reduce(0) { $0 + Double($1) * Double($1) })
  }

  @Test(arguments: [[], ["--decoder", "direct"], ["--spatialize", "off"]])
  func equalisationMatchesThePeakingFilter(options: [String]) throws {
    let file = try folder.write(
      "Preamp: -9 dB\r\nFilter 1: ON PK Fc 1500 Hz Gain 9,0 dB Q 0,8\r\n", to: "own.txt")
    let before = try render(options).ears
    let (run, after) = try render(options + ["--headphones", file])
    #expect(run.exitCode == 0 && run.errors == "", "\(run.errors)")
    try #require(after.count == 2 && before.count == 2)
    let (all, plain) = (after.flatMap { $0 }, before.flatMap { $0 })
    #expect(all.count > plain.count)
    for ear in 0..<2 where before[ear].contains(where: { $0 != 0 }) {
      #expect(residual(after[ear], before[ear]) < -80)
    }
  }

  @Test func profilesAreFoundByName() throws {
    _ = try ProgramRun.of("mkdir", ["-p", folder.file("stillstage/headphones")])
    try folder.write(
      "Filter 1: ON PK Fc 1500 Hz Gain 9 dB Q 0.8", to: "stillstage/headphones/Made Up 600.txt")
    let environment = ["XDG_CONFIG_HOME": folder.path]
    let plain = try render([], environment: environment).ears
    let own = try render(["--headphones", "made up 600"], environment: environment)
    #expect(own.run.exitCode == 0 && own.ears != plain)
    let flat = try render(["--headphones", "FLAT"], environment: environment)
    #expect(flat.run.exitCode == 0 && flat.ears == plain)
    let near = try render(["--headphones", "Madeup 600"], environment: environment).run
    #expect(near.exitCode == 1)
    #expect(near.errors.contains("did you mean 'Made Up 600'?"))
    #expect(near.errors.split(separator: "\n").count == 1)
    // The user's default, and the command line that overrides it.
    try folder.write(#"{"headphones": "made up 600"}"#, to: "stillstage/config.json")
    #expect(try render([], environment: environment).ears == own.ears)
    let none = try render(["--headphones", "none"], environment: environment)
    #expect(none.ears == plain)
  }

  @Test func errorNamesTheInvalidLine() throws {
    let file = try folder.write(
      "Preamp: -3 dB\nFilter 1: ON PK Fc 100 Hz Gain 3 dB Q 1\nFilter 2: ON PK Fc 100 Hz Q 1\n",
      to: "broken.txt")
    let run = try render(["--headphones", file]).run
    #expect(run.exitCode == 1)
    #expect(run.errors.contains("broken.txt: line 3: the gain is missing"))
    #expect(run.errors.split(separator: "\n").count == 1)
  }

  @Test func interauralDelayScalesWithHeadCircumference() throws {
    func delay(_ options: [String]) throws -> Double {
      // The direct decoder preserves the phases at the ears at all frequencies.
      let ears = try render(options + ["--decoder", "direct"]).ears
      try #require(ears.count == 2)
      // Find the maximum of the cross-correlation.
      func correlation(_ shift: Int) -> Double {
        ears[0].indices.reduce(0) { sum, n in
          ears[1].indices.contains(n + shift)
            ? sum + Double(ears[0][n]) * Double(ears[1][n + shift]) : sum
        }
      }
      let best = (-60...60).max { correlation($0) < correlation($1) } ?? 0
      let (a, b, c) = (correlation(best - 1), correlation(best), correlation(best + 1))
      return Double(best) + (a - c) / (2 * (a - 2 * b + c))
    }
    let (small, large) = (
      try delay(["--head-circumference", "50"]), try delay(["--head-circumference", "65"])
    )
    #expect(small > 5 && abs(large / small / 1.3 - 1) < 0.03)
    #expect(try render(["--head-circumference", "44"]).run.exitCode == 2)
  }

  @Test func speakerRenderingAffectsOnlySpatialSound() throws {
    let (phones, run) = (try render([]).ears, try render(["--speakers"]))
    #expect(run.run.exitCode == 0 && run.run.errors == "", "\(run.run.errors)")
    try #require(run.ears.count == 2)
    #expect(run.ears != phones)
    let other = try render(["--speakers", "--speaker-angle", "25"])
    #expect(other.run.exitCode == 0 && other.ears != run.ears)
    // Sound that is not rendered spatially is not changed.
    let plain = try render(["--spatialize", "off"]).ears
    let beside = try render(["--spatialize", "off", "--speakers"]).ears
    #expect(beside[0].prefix(1000) == plain[0].prefix(1000))
  }

  private struct Row: Decodable {
    let set: String
    let head: String
    let cancelling: Bool
    let separationDecibels: Double
    let colourationDecibels: Double
    let boostDecibels: Double
    let frequencies: [Double]
    let separationInThirdOctaves: [Double]
  }

  @Test func speakerBenchReportsBothHRTFSets() throws {
    let run = try Stillstage.succeed(["bench", "speakers", "--json"])
    let rows = try JSONDecoder().decode([Row].self, from: Data(run.output.utf8))
    #expect(Set(rows.map(\.set)).count == 2 && rows.count == 24)
    for row in rows {
      #expect(row.frequencies.count == 15 && row.separationInThirdOctaves.count == 15)
      guard row.head == "in place" else { continue }
      #expect(row.cancelling == (row.separationDecibels > 15))
      if row.cancelling { #expect(row.boostDecibels <= 12 && row.colourationDecibels < 2) }
    }
    let table = try Stillstage.succeed(["bench", "speakers"]).output
    #expect(table.contains("5 cm to the left") && table.contains("cancelled"))
  }
}
