// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `trackers` and `trackers watch` under the virtual tracker; needs Debian's umockdev,
/// gir1.2-umockdev-1.0 and python3-gi.
@Suite(.serialized) struct TrackerCommandTests {
  private func run(
    _ options: [String], _ program: [String], input: String? = nil
  ) throws -> ProgramRun {
    let words =
      ["umockdev-wrapper", "/usr/bin/python3", Fixtures.virtualTracker]
      + (input == nil ? [] : ["--stdin"]) + options + ["--"] + program
    guard let input else { return try ProgramRun.of(words[0], Array(words.dropFirst())) }
    return try ProgramRun.of("sh", ["-c", "{ \(input); } | \"$@\"", "sh"] + words)
  }

  /// What the program wrote, without the virtual tracker's own lines.
  private func output(_ run: ProgramRun) -> [String] {
    run.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      .filter { !$0.hasPrefix("mock: ") }
  }

  private func watch(seconds: Double, by signal: String, _ id: String = "SN-0001") -> [String] {
    ["timeout", "--preserve-status", "-s", signal, "\(seconds)", Stillstage.path]
      + ["trackers", "watch", id]
  }

  @Test func withoutATrackerThereIsGuidance() throws {
    let run = try run(["--absent"], [Stillstage.path, "trackers"])
    #expect(run.exitCode == 0)
    #expect(output(run).first == "No head tracker found.")
    let json = try self.run(["--absent"], [Stillstage.path, "trackers", "--json"])
    #expect(json.exitCode == 0)
    #expect(output(json).joined().filter { !$0.isWhitespace } == "[]")
  }

  @Test func trackersAreListed() throws {
    let run = try run(["--count", "2", "--decoy"], [Stillstage.path, "trackers"])
    #expect(run.exitCode == 0)
    let lines = output(run)
    #expect(lines[0].split(separator: " ") == ["ID", "NAME", "PROTOCOL", "BUS", "ACCESS"])
    #expect(lines[1].hasPrefix("SN-0001  Virtual Head Tracker  AndroidHeadTracker 1.0  usb  ready"))
    #expect(lines[2].hasPrefix("SN-0002"))
    #expect(lines.count == 4)
    let json = try self.run(["--count", "2"], [Stillstage.path, "trackers", "--json"])
    let text = output(json).joined(separator: "\n")
    #expect(text.hasPrefix("[\n") && text.hasSuffix("\n]\n"))
    #expect(text.contains("\"id\" : \"SN-0002\""))
    #expect(text.contains("\"access\" : \"ready\""))
    #expect(text.contains("\"protocol\" : \"#AndroidHeadTracker#1.0\""))
  }

  @Test func theTrackerThatMayNotBeOpenedComesWithTheRule() throws {
    let drop = ["setpriv", "--reuid", "65534", "--clear-groups"]
    let command = [Stillstage.path, "trackers"]
    let run = try run(["--deny"], (getuid() == 0 ? drop : []) + command)
    #expect(run.exitCode == 0)
    #expect(run.output.contains("no permission"))
    #expect(run.output.contains("KERNELS==\"0003:1D6B:0104.*\""))
  }

  @Test func thePoseIsWrittenUntilASignalEndsIt() throws {
    let start = ContinuousClock.now
    let run = try run(
      [], watch(seconds: 2.5, by: "INT"), input: "sleep 1; echo pose 30 10 -5; sleep 2.5")
    #expect(ContinuousClock.now - start < .seconds(8))
    #expect(run.exitCode == 130)
    let rows = output(run).filter { !$0.isEmpty }.map {
      $0.split(separator: " ").map { Double($0) }
    }
    #expect(rows.count > 5)
    #expect(rows.allSatisfy { $0.count == 5 && !$0.contains(nil) })
    let last = try #require(rows.last).compactMap { $0 }
    #expect(abs(last[1] - 30) < 0.1 && abs(last[2] - 10) < 0.1 && abs(last[3] + 5) < 0.1)
    #expect(last[4] > 20)
  }

  @Test func unpluggingAndPluggingIsTold() throws {
    let run = try run(
      [], watch(seconds: 4, by: "TERM"),
      input: "sleep 1.5; echo unplug; sleep 1; echo plug; sleep 3")
    #expect(run.exitCode == 143)
    let notes = run.errors.split(separator: "\n").filter { $0.hasPrefix("stillstage: note: ") }
    #expect(notes.count == 3, "\(run.errors)")
    #expect(notes.first?.hasSuffix("is connected") == true)
    #expect(notes.dropFirst().first?.contains("is gone") == true)
    #expect(notes.last?.hasSuffix("is connected") == true)
  }

  @Test func anUnknownOrAmbiguousTrackerIsRefusedWithWhatThereIs() throws {
    let unknown = try run([], [Stillstage.path, "trackers", "watch", "nothing"])
    #expect(unknown.exitCode == 1)
    #expect(unknown.errors.contains("there are: SN-0001 (Virtual Head Tracker)"))
    let several = try run(["--count", "2"], [Stillstage.path, "trackers", "watch", "virtual"])
    #expect(several.exitCode == 1)
    #expect(several.errors.contains("SN-0001") && several.errors.contains("SN-0002"))
    let none = try run(["--absent"], [Stillstage.path, "trackers", "watch", "SN-0001"])
    #expect(none.exitCode == 1)
    #expect(none.errors.contains("none is connected"))
  }
}
