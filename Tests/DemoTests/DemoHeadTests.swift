// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking
import Playback
import Testing

@Suite struct DemoHeadTests {
  private let head = DemoScene.head

  @Test func rowsAreUnitQuaternionsEvery10MillisecondsOverTheScene() {
    #expect(head.times.first == 0 && head.times.last == DemoScene.seconds)
    for (time, next) in zip(head.times, head.times.dropFirst()) {
      #expect(abs(next - time - 0.01) < 1e-9)
    }
    #expect(head.poses.allSatisfy { abs($0.squaredNorm - 1) < 1e-12 })
  }

  @Test func headLooksAheadLeftAndRightNodsAndLeans() {
    func angles(_ seconds: Double) -> YawPitchRoll {
      YawPitchRoll(head.pose(atSeconds: seconds))
    }
    for time in [0, 1.5, 3] {
      #expect(Quaternion.angle(between: head.pose(atSeconds: time), .identity) < 1e-9)
    }
    #expect(abs(angles(5).yaw - 60) < 1e-6)
    #expect(abs(angles(9).yaw + 60) < 1e-6)
    let all = head.poses.map { YawPitchRoll($0) }
    let (pitches, rolls) = (all.map(\.pitch).sorted(), all.map(\.roll).sorted())
    for (angle, expected) in [
      (pitches.last, 25.0), (pitches.first, -25), (rolls.last, 20), (rolls.first, -20),
    ] {
      #expect(abs((angle ?? 0) - expected) < 1e-6)
    }
    #expect(Quaternion.angle(between: head.pose(atSeconds: 20), .identity) < 1e-9)
  }

  /// No turn is faster than 200 degrees per second or starts or stops abruptly.
  @Test func headTurnsSmoothlyBelow200DegreesPerSecond() {
    let velocities = zip(head.poses, head.poses.dropFirst()).map { a, b in
      (a.conjugate * b).rotationVector * (100 * degreesPerRadian)
    }
    let fastest = velocities.map { ($0 * $0).sum().squareRoot() }.max() ?? 0
    #expect(fastest > 50 && fastest < 200, "\(fastest) degrees a second")
    for (a, b) in zip(velocities, velocities.dropFirst()) {
      let change = b - a
      #expect((change * change).sum().squareRoot() < 5)
    }
  }
}
