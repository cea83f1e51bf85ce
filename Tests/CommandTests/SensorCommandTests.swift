// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Tests `trackers` with virtual sensors: device profiles, recordings and the bridge.
@Suite(.serialized) struct SensorCommandTests {
  private func run(_ family: [String], _ command: String) throws -> ProgramRun {
    try ProgramRun.of(
      "umockdev-wrapper",
      ["/usr/bin/python3", Fixtures.virtualSensor] + family + ["--", "sh", "-c", command],
      timeoutSeconds: 40)
  }

  private func lines(_ text: String) -> [[String]] {
    text.split(separator: "\n").filter { !$0.hasPrefix("mock: ") }
      .map { $0.split(separator: " ").map(String.init) }
  }

  @Test(arguments: [
    ("angles", "profile joystick example", "head"), ("bytes", "profile raw example", "head"),
    ("dualsense", "DualSense", "controller"), ("hdk", "OSVR HDK", "head"),
  ])
  func devicesAreListed(family: String, name: String, kind: String) throws {
    let list = try run([family], "exec \(Stillstage.path) trackers --json")
    #expect(list.exitCode == 0)
    #expect(list.output.contains("\"protocol\" : \"\(name)\""))
    #expect(list.output.contains("\"kind\" : \"\(kind)\""))
    #expect(list.output.contains("\"access\" : \"ready\""))
  }

  @Test func invalidDeviceProfilesAreIgnoredWithANote() throws {
    let data = TemporaryFolder()
    mkdir("\(data.path)/HRTF", 0o755)
    mkdir("\(data.path)/Calibration", 0o755)
    mkdir("\(data.path)/Calibration/trackers", 0o755)
    let good = #""name": "n", "vendor": "1209", "signals""#
    for (name, text, reason) in [
      ("a", "{", "invalid JSON"), ("b", #"{"schema": 2, \#(good): {}}"#, "has schema 2"),
      ("c", #"{"schema": 1, \#(good): {}}"#, "neither an orientation"),
      ("d", #"{"schema": 1, \#(good): {"jaw": {}}}"#, "the signal 'jaw' is unknown"),
      ("e", #"{"schema": 1, \#(good): {"yaw": {"byte": 1, "type": "i17"}}}"#, "needs 'usage'"),
      (
        "f", #"{"schema": 1, \#(good): {"yaw": {"byte": 9999, "type": "i16"}}}"#,
        "must be from 0 to 4094"
      ),
      (
        "g", #"{"schema": 1, "axes": "x,x,z", \#(good): {"yaw": {"byte": 1, "type": "i8"}}}"#,
        "x,x,z"
      ),
      ("h", #"{"schema": 1, "vendor": "1209"}"#, "'name' is missing"),
    ] {
      try data.write(text, to: "Calibration/trackers/\(name).json")
      let list = try ProgramRun.of(Stillstage.path, ["trackers", "--json", "--data", data.path])
      #expect(list.exitCode == 0)
      let notes = list.errors.split(separator: "\n")
      #expect(
        notes.contains {
          $0.contains("cannot use the tracker profile") && $0.contains("/\(name).json: line 1: ")
            && $0.contains(reason)
        },
        "\(notes)")
    }
  }

  @Test func aRecordingHasRawAndFusedColumns() throws {
    let folder = TemporaryFolder()
    let file = "\(folder.path)/r.csv"
    let watch = "timeout -s INT 2.5 \(Stillstage.path) trackers watch SN-0001 --record \(file)"
    let watching = try run(["dualsense"], watch)
    #expect(watching.output.contains("mock: status"))
    let text = try ProgramRun.of("cat", [file]).output
    let rows = text.split(separator: "\n").map { $0.split(separator: ",") }
    #expect(rows[0].joined(separator: ",") == "t,gx,gy,gz,ax,ay,az,w,x,y,z")
    let numbers = rows.dropFirst().map { $0.compactMap { Double($0) } }
    #expect(numbers.count > 200 && numbers.allSatisfy { $0.count == 11 })
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0[0] < $1[0] })
    for row in numbers {
      let force: Double = row[4...6].reduce(0) { $0 + $1 * $1 }
      let norm: Double = row[7...10].reduce(0) { $0 + $1 * $1 }
      #expect(abs(force.squareRoot() - 9.80665) < 0.02)
      #expect(abs(norm - 1) < 1e-9)
    }
  }

  /// The bridge sends the pose that a watcher receives.
  @Test(arguments: ["sparta", "iem", "quaternion"]) func bridgePreservesThePose(preset: String)
    throws
  {
    let port = 20_000 + Int(getpid()) % 20_000
    let both =
      "timeout -s INT 4 \(Stillstage.path) trackers bridge SN-0001 osc://127.0.0.1:\(port)"
      + " --preset \(preset) & exec timeout -s INT 3.5 \(Stillstage.path) trackers watch"
      + " osc:\(port):\(preset)"
    let seen = lines(try run(["--motion", "still", "dualsense"], both).output)
      .compactMap { $0.count == 5 ? $0.compactMap(Double.init) : nil }
    let last = try #require(seen.last { $0.count == 5 })
    // The first pose defines the front; pitch and roll are relative to gravity.
    #expect(abs(last[1]) < 1 && abs(last[2] - 20) < 0.5 && abs(last[3] + 10) < 0.5)
    let rates = seen.filter { $0.count == 5 }.map { $0[4] }.sorted()
    #expect(abs(rates[rates.count / 2] - 100) < 30)
  }

  @Test(arguments: [
    ("trackers watch osc:any", 2), ("trackers watch osc:localhost:9000", 2),
    ("play x --tracker opentrack:[1.2.3.4]:4242", 2), ("trackers watch osc:203.0.113.1:9000", 1),
    ("trackers watch osc:0", 2), ("trackers watch osc:9000:logic", 2),
    ("trackers bridge x osc://nowhere", 2), ("trackers bridge x osc://h:1 --preset no", 2),
    ("trackers watch x --tracker-axes x,y,y", 2), ("trackers watch x --tracker-axes -x,y,z", 2),
    ("trackers watch osc:9000 --tracker-axes -y,x,z", 2),
    ("play x --tracker osc:9000 --tracker-axes -y,x,z", 2),
    ("trackers bridge nobody osc://h:1", 1),
  ])
  func invalidArgumentsAreRefused(commandLine: String, code: Int) throws {
    let run = try ProgramRun.of(Stillstage.path, commandLine.split(separator: " ").map(String.init))
    #expect(Int(run.exitCode) == code)
    #expect(run.errors.split(separator: "\n").count == 1)
  }
}
