// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Tests `trackers` and `trackers watch` under the virtual tracker; needs Debian's umockdev,
/// gir1.2-umockdev-1.0 and python3-gi.
@Suite(.serialized) struct TrackerCommandTests {
  private let tracker = ["umockdev-wrapper", "/usr/bin/python3", Fixtures.virtualTracker]

  private func run(_ options: [String], _ program: [String]) throws -> ProgramRun {
    try ProgramRun.of(tracker[0], tracker.dropFirst() + options + ["--"] + program)
  }

  /// Watches the tracker while a shell script sends it commands through its standard output. The
  /// watcher's files `pid`, `out` and `err` are in `folder`.
  private func watch(_ script: String, in folder: TemporaryFolder) throws -> ProgramRun {
    let watcher = "echo $$ > pid; exec \(Stillstage.path) trackers watch SN-0001 > out 2> err"
    try folder.write("\(script)\n", to: "script")
    return try ProgramRun.of(
      "sh",
      ["-c", "cd \(folder.path) && touch out err && sh ./script | \"$@\"", "sh"] + tracker
        + ["--stdin", "--", "sh", "-c", watcher], timeoutSeconds: 40)
  }

  /// Returns the program's output without the lines of the virtual tracker.
  private func output(_ run: ProgramRun) -> [String] {
    run.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      .filter { !$0.hasPrefix("mock: ") }
  }

  @Test func absenceOfTrackersIsReported() throws {
    let run = try run(["--absent"], [Stillstage.path, "trackers"])
    #expect(run.exitCode == 0)
    #expect(output(run).first == "No tracker found.")
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
    #expect(
      lines[4].hasPrefix("The drivers of these trackers were verified with protocol descriptions"))
    #expect(lines.count == 8)
    let json = try self.run(["--count", "2"], [Stillstage.path, "trackers", "--json"])
    let text = output(json).joined(separator: "\n")
    #expect(text.hasPrefix("[\n") && text.hasSuffix("\n]\n"))
    #expect(text.contains("\"id\" : \"SN-0002\""))
    #expect(text.contains("\"access\" : \"ready\""))
    #expect(text.contains("\"verified\" : \"documentation\""))
    #expect(text.contains("\"protocol\" : \"#AndroidHeadTracker#1.0\""))
  }

  @Test func deniedTrackerIsListedWithTheUdevRule() throws {
    let drop = ["setpriv", "--reuid", "65534", "--clear-groups"]
    let command = [Stillstage.path, "trackers"]
    let run = try run(["--deny"], (getuid() == 0 ? drop : []) + command)
    #expect(run.exitCode == 0)
    #expect(run.output.contains("no permission"))
    #expect(run.output.contains("KERNELS==\"0003:1D6B:0104.*\""))
  }

  @Test func watchPrintsThePoseUntilASignal() throws {
    let folder = TemporaryFolder()
    let run = try watch(
      """
      until [ -s out ]; do sleep 0.1; done
      echo pose 30 10 -5
      sleep 1
      before=$(date +%s%N)
      kill -INT $(cat pid)
      while kill -0 $(cat pid) 2> no; do sleep 0.02; done
      echo $(( ($(date +%s%N) - before) / 1000000 )) > ended
      """, in: folder)
    #expect(run.exitCode == 130)
    let milliseconds = try text("ended", in: folder).split(separator: "\n").first.flatMap {
      Int($0)
    }
    #expect(try #require(milliseconds) < 1000)
    let rows = try text("out", in: folder).split(separator: "\n").map { line in
      line.split(separator: " ").map { Double($0) }
    }
    #expect(rows.count > 3)
    #expect(rows.allSatisfy { $0.count == 5 && !$0.contains(nil) })
    let last = try #require(rows.last).compactMap { $0 }
    #expect(abs(last[1] - 30) < 0.1 && abs(last[2] - 10) < 0.1 && abs(last[3] + 5) < 0.1)
    #expect(last[4] > 5)
  }

  /// The tracker takes 0.3 s for each of the two requests that switch it off, so that the second
  /// signal arrives before it is off.
  @Test(arguments: [("HUP", 129), ("TERM", 143), ("INT", 130)])
  func secondSignalDoesNotKeepTheTrackerOn(signal: String, code: Int32) throws {
    let folder = TemporaryFolder()
    let run = try watch(
      """
      until [ -s out ]; do sleep 0.1; done
      echo slow 0.3
      sleep 0.5
      kill -\(signal) $(cat pid)
      sleep 0.4
      kill -\(signal) $(cat pid)
      while kill -0 $(cat pid) 2> no; do sleep 0.02; done
      """, in: folder)
    #expect(run.exitCode == code)
    let last = run.output.split(separator: "\n").last { $0.hasPrefix("mock: feature") }
    #expect(last?.contains("reporting=840 power=855") == true)
  }

  @Test("A recording is replaced only when a sample arrives")
  func anExistingRecordingIsKeptWithoutSamples() throws {
    let folder = TemporaryFolder()
    let (known, new) = (try folder.write("t,w,x,y,z\n", to: "head.csv"), folder.file("new.csv"))
    for path in [known, new] {
      let run = try run([], [Stillstage.path, "trackers", "watch", "nobody", "--record", path])
      #expect(run.exitCode == 1)
    }
    #expect(try text("head.csv", in: folder) == "t,w,x,y,z\n" && access(new, F_OK) != 0)
    let watch = "timeout -s INT 2.5 \(Stillstage.path) trackers watch SN-0001 --record \(known)"
    let run = try run([], ["sh", "-c", watch])
    #expect(run.errors.contains("note: recorded ") && run.errors.contains(" samples ("))
    #expect(try text("head.csv", in: folder).split(separator: "\n").count > 50)
  }

  @Test func trackerThatDoesNotAnswerDoesNotDelayTheEnd() throws {
    let clock = ContinuousClock()
    let deaf = ["--deaf", "1"]
    let start = clock.now
    let run = try run(deaf, [Stillstage.path, "trackers", "watch", "SN-0001"])
    #expect(run.exitCode == 1)
    #expect(
      run.errors.contains(
        "it did not answer within 1 s; reconnect the tracker or choose another\n"))
    #expect(clock.now - start < .seconds(4))
    let early = try self.run(
      deaf, ["timeout", "-s", "INT", "0.5", Stillstage.path, "trackers", "watch", "SN-0001"])
    #expect(early.errors == "")
  }

  @Test func unpluggingAndPluggingAreReported() throws {
    let folder = TemporaryFolder()
    let run = try watch(
      """
      until [ -s out ]; do sleep 0.1; done
      echo unplug
      until grep -q 'was disconnected' err; do sleep 0.1; done
      echo plug
      until grep -q 'becomes the front' err; do sleep 0.1; done
      kill -TERM $(cat pid)
      """, in: folder)
    #expect(run.exitCode == 143)
    let notes = try text("err", in: folder).split(separator: "\n")
      .filter { $0.hasPrefix("stillstage: note: ") }
    #expect(notes.count == 4, "\(notes)")
  }

  private func text(_ name: String, in folder: TemporaryFolder) throws -> String {
    String(decoding: try readFile(folder.file(name)), as: UTF8.self)
  }

  @Test func unknownAndAmbiguousTrackersAreRefused() throws {
    let unknown = try run([], [Stillstage.path, "trackers", "watch", "nothing"])
    #expect(unknown.exitCode == 1)
    #expect(unknown.errors.contains("choose from: SN-0001 (Virtual Head Tracker)"))
    let several = try run(["--count", "2"], [Stillstage.path, "trackers", "watch", "virtual"])
    #expect(several.exitCode == 1)
    #expect(several.errors.contains("SN-0001") && several.errors.contains("SN-0002"))
    let none = try run(["--absent"], [Stillstage.path, "trackers", "watch", "SN-0001"])
    #expect(none.exitCode == 1)
    #expect(none.errors.contains("none is connected"))
  }
}
