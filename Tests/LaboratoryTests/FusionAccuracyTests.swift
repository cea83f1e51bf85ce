// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import Testing

@testable import HeadTracking
@testable import Laboratory

@Suite struct FusionAccuracyTests {
  /// Returns the accuracy of an estimate with a given error, for a head that turns around twice per
  /// minute and is recorded for two minutes.
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

  @Test func errorIsSplitIntoInclinationAndHeading() throws {
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

  @Test func driftIsTheSlopeOfTheUnwrappedHeadingError() throws {
    let drifting = try #require(try accuracy { about(SIMD3(0, 0, 1), 100 - 5 * $0) })
    #expect(abs(drifting.driftDegreesPerMinute - 300) < 1e-3)
  }

  @Test func onlyScoredRowsAreUsed() throws {
    let half = try #require(
      try accuracy({ about(SIMD3(1, 0, 0), $0 < 60 ? 2 : 50) }, scored: { $0 < 300 }))
    #expect(abs(half.inclinationDegrees - 2) < 1e-4)
    #expect(try accuracy({ _ in .identity }, scored: { $0 == 5 }) == nil)
  }
}
