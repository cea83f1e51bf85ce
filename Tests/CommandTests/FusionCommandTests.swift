// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Tests `fuse` and `bench fusion` with a sensor whose motion is known.
@Suite struct FusionCommandTests {
  private let rate = 100.0
  private let turnPerSecond = 0.4

  /// Returns a recording, with ground truth, of a sensor that rests for 5 s and then turns about z
  /// for 10 s. `field` adds a magnetometer. North is y, so the true heading starts at 0.
  private func recording(field: Bool) -> String {
    var text = "t,gx,gy,gz,ax,ay,az,\(field ? "mx,my,mz," : "")qw,qx,qy,qz,movement\n"
    for index in 0..<Int(15 * rate) {
      let time = Double(index) / rate
      let angle = max(0, time - 5) * turnPerSecond
      // The rate of a sample applies to the interval before it.
      text += "\(time),0,0,\(time > 5.001 ? turnPerSecond : 0),0,0,9.81,"
      if field { text += "\(20 * sin(angle)),\(20 * cos(angle)),-40," }
      text += "\(cos(angle / 2)),0,0,\(sin(angle / 2)),\(time > 5 ? 1 : 0)\n"
    }
    return text
  }

  /// Returns the rows of numbers after the header.
  private func rows(_ path: String) throws -> [[Double]] {
    let text = String(decoding: try readFile(path), as: UTF8.self)
    let lines = text.split(separator: "\n")
    #expect(lines.first == "t,w,x,y,z")
    return lines.dropFirst().map { $0.split(separator: ",").compactMap { Double($0) } }
  }

  @Test(arguments: [false, true])
  func fuseWritesARowForEachSample(mag: Bool) throws {
    let folder = TemporaryFolder()
    let input = try folder.write(recording(field: true), to: "in.csv")
    let output = folder.file("out.csv")
    _ = try Stillstage.succeed(["fuse", input, "-o", output] + (mag ? ["--mag"] : []))
    let rows = try rows(output)
    #expect(rows.count == 1500)
    for (index, row) in rows.enumerated() {
      #expect(row.count == 5)
      #expect(abs(row[0] - Double(index) / rate) < 1e-9)
      #expect(abs(row[1] * row[1] + row[2] * row[2] + row[3] * row[3] + row[4] * row[4] - 1) < 1e-7)
    }
    let last = try #require(rows.last)
    let yaw = 2 * atan2(last[4], last[1])
    #expect(abs(yaw - turnPerSecond * 9.99) < 0.02)
  }

  @Test func renderAcceptsFusedMotion() throws {
    let folder = TemporaryFolder()
    let input = try folder.write(recording(field: false), to: "in.csv")
    _ = try Stillstage.succeed(["fuse", input, "-o", folder.file("head.csv")])
    let silence = [Float](repeating: 0, count: 4800)
    let sound = try folder.write(FloatWAV(channels: [silence, silence]).bytes(), to: "in.wav")
    _ = try Stillstage.succeed([
      "render", sound, "-o", folder.file("out.wav"), "--motion", folder.file("head.csv"),
    ])
  }

  @Test func wrongRecordingsAreRefused() throws {
    let folder = TemporaryFolder()
    let input = try folder.write(recording(field: false), to: "in.csv")
    let bad = try folder.write("t,gx,gy,gz\n0,0,0,0\n", to: "bad.csv")
    for (arguments, reason) in [
      ([input, "-o", "x.csv", "--mag"], "has no columns mx,my,mz; leave out --mag"),
      ([bad, "-o", "x.csv"], "bad.csv, line 1: the header has no column 'ax'"),
      ([folder.file("none"), "-o", "x.csv"], "No such file or directory"),
      ([input, "-o", input], "would overwrite"),
      ([input, "-o", folder.path], "it is a directory; choose a file in it"),
      ([input, "-o", "\(folder.path)/no/x.csv"], "No such file or directory"),
    ] {
      let run = try Stillstage.run(["fuse"] + arguments)
      #expect(run.exitCode == 1)
      #expect(run.errors.contains(reason), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1)
    }
  }

  @Test func benchReportsEachFileAndTheMean() throws {
    let folder = TemporaryFolder()
    let first = try folder.write(recording(field: true), to: "a.csv")
    let second = try folder.write(recording(field: false), to: "b.csv")
    let run = try Stillstage.succeed(["bench", "fusion", first, second, "--json"])
    let flat = run.output.filter { !$0.isWhitespace }
    #expect(flat.hasPrefix("[{") && flat.hasSuffix("}]"))
    for recording in [first, second, "mean"] {
      #expect(flat.contains("\"recording\":\"\(recording)\""))
    }
    #expect(flat.components(of: "\"headingDegrees\"") == 1)
    #expect(flat.components(of: "\"inclinationDegrees\"") == 3)
    let table = try Stillstage.succeed(["bench", "fusion", first])
    #expect(table.output.contains("deg/min"))
    let none = try folder.write("t,gx,gy,gz,ax,ay,az\n0,0,0,0,0,0,9.8\n", to: "c.csv")
    let refused = try Stillstage.run(["bench", "fusion", none])
    #expect(refused.exitCode == 1)
    #expect(refused.errors.contains("has no columns qw,qx,qy,qz with the true orientation"))
  }

  /// A peer that always returns the identity: its output is read as doubles and reported next to
  /// ours.
  @Test func peerFilterIsMeasuredInTheSameRun() throws {
    let folder = TemporaryFolder()
    let input = try folder.write(recording(field: false), to: "in.csv")
    try folder.write(
      """
      #!/usr/bin/python3
      import struct, sys
      rows = sum(1 for line in open(sys.argv[1])) - 1
      sys.stdout.buffer.write(struct.pack("d", 7.5) + struct.pack("4d", 1, 0, 0, 0) * rows)

      """, to: "peer-vqf", mode: 0o755)
    let run = try ProgramRun.of(
      Stillstage.path, ["bench", "fusion", input, "--json"],
      environment: ["STILLSTAGE_PEERS": folder.path])
    #expect(run.exitCode == 0)
    let flat = run.output.filter { !$0.isWhitespace }
    #expect(flat.components(of: "\"filter\":\"vqf\"") == 2)
    #expect(flat.contains("\"microsecondsPerSample\":7.5"))
    // Its drift is the complete turn rate, 0.4 rad/s.
    #expect(flat.contains("\"driftDegreesPerMinute\":1375.0"))
  }
}

extension String {
  /// Returns the number of occurrences of a text.
  fileprivate func components(of text: String) -> Int {
    split(separator: text, omittingEmptySubsequences: false).count - 1
  }
}
