// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import Testing

@testable import HeadTracking

@Suite struct InertialRecordingTests {
  private func parse(_ text: String) throws -> InertialRecording {
    try InertialRecording(Array(text.utf8), name: "r.csv")
  }

  @Test func readsColumnsByNameInAnyOrder() throws {
    let text = """
      mz,t,GX,gy,gz,note,ax,ay,az,mx,my,qw,qx,qy,qz,movement
      3,0.5,1,2,3,hello,4,5,6,1,2,2,0,0,0,1
      3,0.6,nan,2,3,,4,,6,1,2,nan,nan,nan,nan,0

      """
    let recording = try parse(text)
    #expect(recording.times == [0.5, 0.6])
    #expect(recording.hasMagneticField)
    #expect(recording.samples[0].time == 500_000_000)
    #expect(recording.samples[0].angularVelocity == SIMD3(1, 2, 3))
    #expect(recording.samples[0].specificForce == SIMD3(4, 5, 6))
    #expect(recording.samples[0].magneticField == SIMD3(1, 2, 3))
    #expect(recording.samples[1].angularVelocity.x.isNaN)
    #expect(recording.samples[1].specificForce.y.isNaN)
    #expect(recording.truth == [.identity, nil])
    #expect(recording.isScored == [true, false])
  }

  @Test func magneticFieldAndTruthAreOptional() throws {
    let recording = try parse("t,gx,gy,gz,ax,ay,az,mx,my\n1,0,0,0,0,0,9.8,1,2\n")
    #expect(!recording.hasMagneticField)
    #expect(recording.samples[0].magneticField == nil)
    #expect(recording.truth.isEmpty)
    #expect(recording.isScored == [true])
  }

  @Test(arguments: [
    ("t,gx,gy,ax,ay,az\n", "r.csv, line 1: the header has no column 'gz'; it must name t,gx,gy"),
    ("t,gx,gy,gz,ax,ay,az\nnan,0,0,0,0,0,0\n", "r.csv, line 2: column 't' contains 'nan'"),
    (
      "t,gx,gy,gz,ax,ay,az\n0,0,x,0,0,0,0\n",
      "r.csv, line 2: column 'gy' contains 'x', not a finite number"
    ),
    (
      "t,gx,gy,gz,ax,ay,az\n1e300,0,0,0,0,0,0\n",
      "r.csv, line 2: time 1e+300 s is out of range; it must be between -9e9 and 9e9 s"
    ),
    (
      "t,gx,gy,gz,ax,ay,az\n1,0,0,0,0,0,9\n1,0,0,0,0,0,9\n",
      "r.csv, line 3: time 1.0 is not later than 1.0, the time of the previous row"
    ),
    ("t,gx,gy,gz,ax,ay,az\n", "cannot read r.csv: it has a header but no rows"),
  ])
  func errorsStateTheLineAndReason(text: String, message: String) {
    #expect {
      try parse(text)
    } throws: {
      "\($0)".hasPrefix(message)
    }
  }

  @Test func recordingWithPosesIsAlsoAMotionFile() throws {
    let text = "t,gx,gy,gz,ax,ay,az,w,x,y,z\n0,0,0,0,0,0,9.8,1,0,0,0\n1,0,0,0,0,0,9.8,0,0,0,1\n"
    let head = try MotionFile.parse(Array(text.utf8), name: "m.csv")
    #expect(head.poses[1] == Quaternion(w: 0, x: 0, y: 0, z: 1))
    #expect(try parse(text).samples.count == 2)
  }
}
