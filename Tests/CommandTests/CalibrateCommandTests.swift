// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Tests `calibrate` and the profile that it writes, under the virtual tracker.
@Suite(.serialized) struct CalibrateCommandTests {
  private let tracker = ["umockdev-wrapper", "/usr/bin/python3", Fixtures.virtualTracker]

  /// Runs a command line while a shell script controls the head. The files `pid`, `out` and `err`
  /// are in `folder`; the user's folder is `config/stillstage` there.
  private func run(
    _ command: String, _ script: String, in folder: TemporaryFolder
  ) throws -> ProgramRun {
    let program = "echo $$ > pid; exec \(Stillstage.path) \(command) > out 2> err"
    try folder.write("\(script)\n", to: "script")
    return try ProgramRun.of(
      "sh",
      ["-c", "cd \(folder.path) && touch out err && sh ./script | \"$@\"", "sh"] + tracker
        + ["--stdin", "--", "sh", "-c", program],
      environment: ["XDG_CONFIG_HOME": folder.file("config")], timeoutSeconds: 40)
  }

  /// Returns a script that moves the head as the instructions in a file say.
  private func scriptFollowing(_ file: String, up: String = "0 30 0") -> String {
    """
    wait_for() { until grep -q "$1" \(file); do kill -0 $(cat pid) || exit; sleep 0.1; done; }
    until [ -s pid ]; do sleep 0.1; done
    wait_for 'Look up'
    echo pose \(up)
    wait_for 'ahead again'
    echo pose 0 0 0
    wait_for 'to the left'
    echo pose 45 0 0
    while kill -0 $(cat pid) 2> no; do sleep 0.1; done
    """
  }

  private func text(_ name: String, in folder: TemporaryFolder) throws -> String {
    String(decoding: try readFile(folder.file(name)), as: UTF8.self)
  }

  private let profilePath = "config/stillstage/trackers/1d6b-0104-SN-0001.json"

  @Test func calibrationWritesAProfileFromThreePoses() throws {
    let folder = TemporaryFolder()
    let result = try run("calibrate SN-0001", scriptFollowing("out"), in: folder)
    let errors = try text("err", in: folder)
    #expect(result.exitCode == 0, "\(errors)")
    #expect(try text("out", in: folder).contains("Axes (front, left, up)  x,y,z, up is z"))
    let profile = try text(profilePath, in: folder).filter { !$0.isWhitespace }
    #expect(profile.contains("\"axes\":\"x,y,z\"") && profile.contains("\"version\":1"))
    #expect(profile.contains("\"serial\":\"SN-0001\""))
  }

  @Test func aDryRunWritesNothing() throws {
    let folder = TemporaryFolder()
    let result = try run("calibrate SN-0001 --dry-run --json", scriptFollowing("err"), in: folder)
    #expect(result.exitCode == 0)
    let output = try text("out", in: folder)
    #expect(output.hasPrefix("{\n") && output.hasSuffix("}\n"))
    #expect(!folder.names.contains("config"))
  }

  @Test func wrongPosesAreRefused() throws {
    let folder = TemporaryFolder()
    let result = try run("calibrate SN-0001", scriptFollowing("out", up: "35 0 0"), in: folder)
    #expect(result.exitCode == 1)
    #expect(try text("err", in: folder).contains("were about axes that are"))
    #expect(!folder.names.contains("config"))
  }

  @Test func theTerminalShowsTheProgressAndQLeavesTheOldCalibration() throws {
    let folder = TemporaryFolder()
    let words = tracker + ["--", Stillstage.path, "calibrate", "SN-0001"]
    let program = try RunningProgram(
      words, environment: ["XDG_CONFIG_HOME": folder.file("config"), "TERM": "xterm"],
      input: .terminal)
    func sees(_ text: String) throws {
      let isSeen = waitUntil(seconds: 20) {
        TerminalScreen(program.bytes, columns: 80).rows.contains { $0.contains(text) }
      }
      try #require(isSeen, "\(text): \(TerminalScreen(program.bytes, columns: 80).rows)")
    }
    try sees("s left; keep still")
    try sees("turned by 0 degrees; turn to at least")
    #expect(TerminalScreen(program.bytes, columns: 80).wraps == 0)
    program.type("q")
    try sees("was cancelled with q")
    #expect(program.wait(seconds: 10) == 1)
    #expect(!folder.names.contains("config"))
  }

  @Test("A network tracker cannot be calibrated, and the error names a preset")
  func networkTracker() throws {
    let run = try ProgramRun.of(Stillstage.path, ["calibrate", "osc:9000"])
    #expect(run.exitCode == 1)
    #expect(run.errors.contains("choose a preset"))
  }

  @Test func anUnknownTrackerIsRefusedAtOnce() throws {
    let run = try ProgramRun.of(
      tracker[0], tracker.dropFirst() + ["--absent", "--", Stillstage.path, "calibrate", "SN-1"])
    #expect(run.exitCode == 1)
    #expect(run.errors.contains("none is connected"))
  }

  /// Watches a tracker that reports a pitch of 20 degrees up; returns the last pitch and the notes.
  private func watched(_ profile: String) throws -> (pitch: Double, notes: String) {
    let folder = TemporaryFolder()
    _ = try ProgramRun.of("mkdir", ["-p", folder.file("config/stillstage/trackers")])
    try folder.write(profile, to: profilePath)
    let script = """
      until [ -s out ]; do sleep 0.1; done
      echo pose 0 20 0
      sleep 1
      kill -INT $(cat pid)
      while kill -0 $(cat pid) 2> no; do sleep 0.05; done
      """
    let run = try run("trackers watch SN-0001", script, in: folder)
    #expect(run.exitCode == 130)
    let last = try #require(try text("out", in: folder).split(separator: "\n").last)
    let pitch = try #require(Double(last.split(separator: " ")[2]))
    return (pitch, try text("err", in: folder))
  }

  private func profile(axes: String, version: Int = 1, serial: String = "SN-0001") -> String {
    """
    {"version": \(version), "axes": "\(axes)", "up": "z", "rateHertz": 100, "tracker":
    {"vendorID": 7531, "productID": 260, "serial": "\(serial)", "name": "Virtual Head Tracker"}}
    """
  }

  @Test func aProfileIsAppliedToItsTracker() throws {
    // The tracker is mounted back to front, so what it reports as up is down.
    let turned = try watched(profile(axes: "-x,-y,z"))
    #expect(abs(turned.pitch + 20) < 0.2)
    #expect(!turned.notes.contains("not used"))
  }

  @Test func outdatedAndForeignProfilesAreIgnoredWithANote() throws {
    let old = try watched(profile(axes: "-x,-y,z", version: 0))
    #expect(abs(old.pitch - 20) < 0.2)
    #expect(old.notes.contains("the calibration is not used: "))
    #expect(
      old.notes.contains(
        "it has version 0, but this program reads version 1; calibrate again"))
    let foreign = try watched(profile(axes: "-x,-y,z", serial: "SN-0009"))
    #expect(abs(foreign.pitch - 20) < 0.2)
    #expect(foreign.notes.contains("it belongs to Virtual Head Tracker with the serial number"))
  }
}
