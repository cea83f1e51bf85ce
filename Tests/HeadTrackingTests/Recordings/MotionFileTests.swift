// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import TestSupport
import Testing

@testable import HeadTracking

@Suite struct MotionFileTests {
  private func parse(_ text: String) throws -> HeadTrajectory {
    try MotionFile.parse(Array(text.utf8), name: "m.csv")
  }

  @Test func findsColumnsByNameAndIgnoresOthers() throws {
    let text = "\u{FEFF}gx, Z ,w,t,x,\"y\"\r\n9,0.5,0.5,0,0.5,0.5\r\n\r\nnan,0,2,0.25,0,0\r\n"
    let head = try parse(text)
    #expect(head.times == [0, 0.25])
    #expect(head.poses[0] == Quaternion(w: 0.5, x: 0.5, y: 0.5, z: 0.5))
    #expect(head.poses[1] == Quaternion.identity)
  }

  @Test(arguments: [
    ("", "cannot read m.csv: it is empty or blank"),
    ("\n\n", "cannot read m.csv: it is empty or blank"),
    ("t,w,x,y,z\n", "cannot read m.csv: it has a header but no rows"),
    (
      "t,w,x,y\n",
      "m.csv, line 1: the header has no column 'z'; it must name t,w,x,y,z exactly once"
    ),
    ("t,w,x,y,z,w\n", "m.csv, line 1: the header has more than one column 'w'"),
    ("0,1,0,0,0\n", "m.csv, line 1: the header has no column 't'"),
    ("t,w,x,y,z\n0,1,0,0,0\n1,1,0,0\n", "m.csv, line 3: column 'z' is missing"),
    (
      "t,w,x,y,z\n\n0,1,oops,0,0\n",
      "m.csv, line 3: column 'x' contains 'oops', not a finite number"
    ),
    ("t,w,x,y,z\n0,nan,0,0,0\n", "m.csv, line 2: column 'w' contains 'nan', not a finite number"),
    (
      "t,w,x,y,z\n0,1e999,0,0,0\n",
      "m.csv, line 2: column 'w' contains '1e999', not a finite number"
    ),
    ("t,w,x,y,z\n0,,0,0,0\n", "m.csv, line 2: column 'w' contains '', not a finite number"),
    ("t,w,x,y,z\n0,0,0,0,0\n", "m.csv, line 2: the quaternion w,x,y,z is not a rotation"),
    ("t,w,x,y,z\n1,1,0,0,0\n1,1,0,0,0\n", "m.csv, line 3: time 1.0 is not later"),
    ("t,w,x,y,z\n0,a\u{1}b,0,0,0\n", "m.csv, line 2: column 'w' contains 'a?b'"),
  ])
  func errorsStateTheLineAndReason(text: String, message: String) {
    #expect {
      try parse(text)
    } throws: {
      "\($0)".hasPrefix(message) && !"\($0)".contains("\n")
    }
  }

  /// Returns CSV text with a header, then the same line many times.
  private func repeated(_ header: String, _ line: String, _ count: Int) -> [UInt8] {
    Array(header.utf8) + repeatElement(Array(line.utf8), count: count).joined()
  }

  @Test(.timeLimit(.minutes(2))) func limitsAreNamedInErrors() throws {
    let rows = #expect(throws: HeadTrackingError.self) {
      try ColumnTable(repeated("t\n", "1\n", 5_000_001), name: "m.csv", .init(required: ["t"]))
    }
    #expect(rows?.description.contains("it has more than 5000000 rows, which is the limit") == true)
    let lines = #expect(throws: HeadTrackingError.self) {
      try ColumnTable(repeated("t\n1\n", "\n", 10_000_000), name: "m.csv", .init(required: ["t"]))
    }
    #expect(
      lines?.description.contains("it has more than 10000000 lines, which is the limit") == true)
    let long = #expect(throws: HeadTrackingError.self) {
      try ColumnTable(repeated("t\n1", "0", 2_000_000), name: "m.csv", .init(required: ["t"]))
    }
    #expect(long?.description.contains("line 2: the line is longer than 1048576 bytes") == true)
    #expect(TextFile.maximumBytes == 1 << 30)
  }

  @Test func unpackedSizeIsLimitedAndReadingCanBeEnded() throws {
    let folder = TemporaryFolder()
    let path = try folder.write(repeated("t,w,x,y,z\n", "1,1,0,0,0\n", 1_000_000), to: "m.csv")
    #expect(try ProgramRun.of("gzip", [path]).exitCode == 0)
    let size = #expect(throws: HeadTrackingError.self) {
      try TextFile.read(path + ".gz", limit: 1 << 20) { _ in }
    }
    #expect(size?.description.contains("its text is larger than 1 MiB, which is the limit") == true)
    var fractions: [Double] = []
    try TextFile.read(
      path + ".gz",
      monitor: TaskMonitor { fraction in
        #expect((0...1).contains(fraction))
        return true
      }
    ) { fractions.append(Double($0.count)) }
    #expect(fractions.reduce(0, +) == 10_000_010)
    #expect(throws: HeadTrackingError.interrupted) {
      try MotionFile.read(path + ".gz", monitor: TaskMonitor { _ in false })
    }
  }

  /// Lines that cross the boundaries between the parts in which a file is read.
  @Test func filesAndTextAreParsedAlike() throws {
    let folder = TemporaryFolder()
    var text = "\u{FEFF}t,w,x,y,z,note\n"
    for row in 0..<20_000 { text += "\(Double(row) / 7),1,0,0,0,\(row % 13)\n" }
    let path = try folder.write(text, to: "m.csv")
    #expect(try MotionFile.read(path).times == parse(text).times)
  }

  @Test func slerpsBetweenRowsAndHoldsOutside() throws {
    let head = try parse("t,w,x,y,z\n1,1,0,0,0\n2,0.7071067811865476,0,0,0.7071067811865476\n")
    for (time, yaw) in [(0.0, 0.0), (1, 0), (1.25, 22.5), (1.5, 45), (2, 90), (99, 90)] {
      let pose = head.pose(atSeconds: time)
      #expect(abs(YawPitchRoll(pose).yaw - yaw) < 1e-9)
    }
    #expect(head.pose(atSeconds: .nan) == head.poses[0])
  }

  @Test func interpolationMatchesTheClosedForm() {
    var random = SeededGenerator.forTest()
    let times = (0..<1000).map { Double($0) * 0.01 }
    let head = HeadTrajectory(
      times: times, poses: times.map { Quaternion(rotationVector: SIMD3(0, 0, 0.3 * $0)) })
    for _ in 0..<1000 {
      let time = Double.random(in: 0..<9.99, using: &random)
      let truth = Quaternion(rotationVector: SIMD3(0, 0, 0.3 * time))
      #expect(Quaternion.angle(between: head.pose(atSeconds: time), truth) < 1e-7)
    }
  }

  @Test func readsPlainAndCompressedFiles() throws {
    let folder = TemporaryFolder()
    let text = "t,w,x,y,z\n0,1,0,0,0\n1,0,0,0,1\n"
    let plain = try folder.write(text, to: "plain.csv")
    #expect(try MotionFile.read(plain).count == 2)
    try run("/bin/gzip", ["-k", plain])
    #expect(try MotionFile.read(plain + ".gz").count == 2)
    let whole = try SystemFile.contents(plain + ".gz")
    let cut = try folder.write(Array(whole.prefix(whole.count - 9)), to: "cut.csv.gz")
    #expect {
      try MotionFile.read(cut)
    } throws: {
      "\($0)".contains("truncated") || "\($0)".contains("damaged")
    }
  }

  @Test func refusesPathsThatAreNotRegularFiles() throws {
    let folder = TemporaryFolder()
    let fifo = folder.path + "/fifo"
    #expect(mkfifo(fifo, 0o600) == 0)
    for (path, reason) in [
      (folder.path, "it is not a regular file"), (fifo, "it is not a regular file"),
      (folder.path + "/none.csv", "No such file or directory"),
      ("/dev/zero", "it is not a regular file"),
    ] {
      #expect(throws: HeadTrackingError.cannotReadMotion(path: path, reason: reason)) {
        try MotionFile.read(path)
      }
    }
  }
}
