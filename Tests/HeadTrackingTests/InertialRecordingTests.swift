// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import Testing

@testable import HeadTracking

@Suite struct InertialRecordingTests {
  private func parse(_ text: String) throws -> InertialRecording {
    try InertialRecording(Array(text.utf8), name: "r.csv")
  }

  @Test func findsColumnsByNameAndGroupsWhereTheyAreWhole() throws {
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

  @Test func aFileWithoutFieldAndTruthIsEnough() throws {
    let recording = try parse("t,gx,gy,gz,ax,ay,az,mx,my\n1,0,0,0,0,0,9.8,1,2\n")
    #expect(!recording.hasMagneticField)
    #expect(recording.samples[0].magneticField == nil)
    #expect(recording.truth.isEmpty)
    #expect(recording.isScored == [true])
  }

  @Test(arguments: [
    ("t,gx,gy,ax,ay,az\n", "r.csv, line 1: the header has no column 'gz'; it must name t,gx,gy"),
    ("t,gx,gy,gz,ax,ay,az\nnan,0,0,0,0,0,0\n", "r.csv, line 2: column 't' holds 'nan'"),
    ("t,gx,gy,gz,ax,ay,az\n0,0,x,0,0,0,0\n", "r.csv, line 2: column 'gy' holds 'x', not a number"),
    ("t,gx,gy,gz,ax,ay,az\n1e300,0,0,0,0,0,0\n", "r.csv, line 2: time 1e+300 is beyond"),
    (
      "t,gx,gy,gz,ax,ay,az\n1,0,0,0,0,0,9\n1,0,0,0,0,0,9\n",
      "r.csv, line 3: time 1.0 does not rise (the row before has 1.0)"
    ),
    ("t,gx,gy,gz,ax,ay,az\n", "cannot read the motion file r.csv: it has a header but no rows"),
  ])
  func errorsNameTheLineAndWhatIsWrong(text: String, message: String) {
    #expect {
      try parse(text)
    } throws: {
      "\($0)".hasPrefix(message)
    }
  }

  @Test func aRecordingWithPosesIsAMotionFileToo() throws {
    let text = "t,gx,gy,gz,ax,ay,az,w,x,y,z\n0,0,0,0,0,0,9.8,1,0,0,0\n1,0,0,0,0,0,9.8,0,0,0,1\n"
    let head = try MotionFile.parse(Array(text.utf8), name: "m.csv")
    #expect(head.poses[1] == Quaternion(w: 0, x: 0, y: 0, z: 1))
    #expect(try parse(text).samples.count == 2)
  }
}

@Suite struct FusionAccuracyTests {
  /// A head that turns all round twice a minute, seen for two minutes, and an estimate off by what
  /// `error` says.
  private func accuracy(
    _ error: (Double) -> Quaternion, scored: (Int) -> Bool = { _ in true }
  ) throws -> FusionAccuracy? {
    let times = (0..<600).map { Double($0) * 0.2 }
    let truth = times.map { YawPitchRoll(yaw: 12 * $0, pitch: 20 * sin($0)).quaternion }
    var text = "t,gx,gy,gz,ax,ay,az,qw,qx,qy,qz,movement\n"
    for (index, time) in times.enumerated() {
      let q = truth[index]
      text += "\(time),0,0,0,0,0,0,\(q.w),\(q.x),\(q.y),\(q.z),\(scored(index) ? 1 : 0)\n"
    }
    let recording = try InertialRecording(Array(text.utf8), name: "r.csv")
    let estimate = zip(times, truth).map { error($0) * $1 }
    return FusionAccuracy(.init(estimate, against: recording))
  }

  private func about(_ axis: SIMD3<Double>, _ degrees: Double) -> Quaternion {
    Quaternion(rotationVector: axis * (degrees * .pi / 180))
  }

  @Test func splitsTheErrorIntoInclinationAndHeading() throws {
    let leaning = try #require(try accuracy { _ in about(SIMD3(0.6, 0.8, 0), 3) })
    #expect(abs(leaning.inclinationDegrees - 3) < 1e-4)
    #expect(leaning.headingDegrees < 1e-4 && leaning.driftDegreesPerMinute < 1e-4)
    let turned = try #require(try accuracy { _ in about(SIMD3(0, 0, 1), 170) })
    #expect(turned.inclinationDegrees < 1e-4)
    #expect(turned.headingDegrees < 1e-4)
    #expect(abs(turned.absoluteHeadingDegrees - 170) < 1e-4)
    let swaying = try #require(
      try accuracy { about(SIMD3(0, 0, 1), 175 + 4 * sin($0 * .pi / 6)) })
    #expect(abs(swaying.headingDegrees - 4 / 2.0.squareRoot()) < 0.01)
  }

  @Test func driftIsTheSlopeOfAnErrorThatMayGoRound() throws {
    let drifting = try #require(try accuracy { about(SIMD3(0, 0, 1), 100 - 5 * $0) })
    #expect(abs(drifting.driftDegreesPerMinute - 300) < 1e-3)
  }

  @Test func onlyRowsThatCountAreTaken() throws {
    let half = try #require(
      try accuracy({ about(SIMD3(1, 0, 0), $0 < 60 ? 2 : 50) }, scored: { $0 < 300 }))
    #expect(abs(half.inclinationDegrees - 2) < 1e-4)
    #expect(try accuracy({ _ in .identity }, scored: { $0 == 5 }) == nil)
  }
}
