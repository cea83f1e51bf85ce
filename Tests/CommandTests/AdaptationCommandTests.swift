// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

/// Tests `stillstage bench adaptation`.
@Suite struct AdaptationCommandTests {
  private struct Row: Decodable {
    let rule: String
    let trace: String
    let stallPercent: Double
    let flipsPerMinute: Double
    let multichannelPercent: Double
    let restoreSeconds: Double?
    let startSeconds: Double?
  }

  private let rules = ["stillstage", "hls.js", "ExoPlayer", "Shaka", "BOLA", "GStreamer"]

  private func rows(_ arguments: [String]) throws -> [Row] {
    let run = try Stillstage.succeed(["bench", "adaptation", "--json"] + arguments)
    return try JSONDecoder().decode([Row].self, from: Data(run.output.utf8))
  }

  @Test func stillstageMeetsItsGoalsOnTheBuiltInTraces() throws {
    let rows = try rows([])
    #expect(rows.count == 6 * rules.count + 2 * 26)
    let poor = try #require(rows.first { $0.trace == "poor/mean" })
    #expect(poor.stallPercent <= 0.25 && poor.flipsPerMinute <= 0.6)
    #expect(poor.multichannelPercent >= 70 && poor.restoreSeconds ?? 99 <= 12)
    #expect(rows.contains { $0.trace == "outage/two_states-106" })
    for trace in ["fades", "tunnels", "drop", "alternating", "ramp", "mean"] {
      #expect(rows.filter { $0.trace == trace }.map(\.rule) == rules)
    }
    let own = try #require(rows.first { $0.trace == "mean" && $0.rule == "stillstage" })
    let each = rows.filter { row in
      row.trace != "mean" && row.rule == "stillstage" && !row.trace.contains("/")
    }
    let mean = each.reduce(0) { $0 + $1.stallPercent } / 5
    #expect(abs(mean - own.stallPercent) < 1e-9)
    #expect(own.flipsPerMinute <= 0.6 && own.multichannelPercent >= 70)
    #expect(own.stallPercent <= 0.25 && own.restoreSeconds ?? 99 <= 12)
  }

  /// One trace is fast enough for every rendition, the other only for stereo.
  @Test func givenTracesAreMeasured() throws {
    let folder = TemporaryFolder()
    let wide = try folder.write("t,kbps\n0,5000\n", to: "wide.csv")
    let thin = try folder.write("t,kbps\n0,110\n", to: "thin.csv")
    let rows = try rows([wide, thin])
    #expect(rows.count == 3 * rules.count)
    let own = rows.filter { $0.rule == "stillstage" }
    #expect(own.map(\.trace) == [wide, thin, "mean"])
    #expect(own[0].stallPercent == 0 && own[0].multichannelPercent == 100)
    #expect(own[0].restoreSeconds == nil && own[0].flipsPerMinute == 0)
    #expect(own[1].stallPercent == 0 && own[1].multichannelPercent == 0)
    let text = try Stillstage.succeed(["bench", "adaptation", wide]).output
    #expect(text.contains("wide.csv    stillstage  0.00 %  0.00              100 %"))
  }

  @Test func chartIsWrittenButNeverOverItsInput() throws {
    let folder = TemporaryFolder()
    let trace = try folder.write("0,800\n20,110\n60,800\n120,800", to: "a.csv")
    let chart = folder.file("chart.svg")
    _ = try Stillstage.succeed(["bench", "adaptation", trace, "--chart", chart])
    let svg = String(decoding: try readFile(chart), as: UTF8.self)
    #expect(svg.contains("<svg") && svg.contains("buffer (s)"))
    let same = try Stillstage.run(["bench", "adaptation", trace, "--chart", trace])
    #expect(same.exitCode == 1 && same.errors.contains("would overwrite"))
  }

  @Test func invalidTracesAreRefused() throws {
    let folder = TemporaryFolder()
    let bad = try folder.write("t,kbps\n0,1\n0,2\n", to: "bad.csv")
    for (path, reason) in [
      (bad, "bad.csv is not a valid trace: line 3: the times must start at 0 and increase"),
      (folder.file("none.csv"), "none.csv: No such file or directory"),
      (folder.path, "it is not a regular file"),
    ] {
      let run = try Stillstage.run(["bench", "adaptation", path])
      #expect(run.exitCode == 1 && run.output.isEmpty)
      #expect(run.errors.contains(reason), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1)
    }
  }
}
