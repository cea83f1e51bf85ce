// SPDX-License-Identifier: Apache-2.0

import Geometry
import TestSupport
import Testing

@testable import HeadTracking

@Suite struct RecentringTests {
  private func yaw(_ q: Quaternion) -> Double { YawPitchRoll(q).yaw }

  /// Returns the yaw relative to the stage every 10 ms, for a head with a known yaw.
  private func play(
    _ head: (Double) -> Double, pitch: (Double) -> Double = { _ in 0 }, seconds: Double,
    noise degrees: Double = 0.05, source: HeadPoseSource = HeadPoseSource()
  ) -> [Double] {
    var noise = SeededGenerator(4)
    source.prediction = .off
    return (0..<Int(seconds * 100)).map { step in
      let time = Double(step) * 0.01
      let now = PoseSimulation.nanoseconds(time)
      let pose =
        YawPitchRoll(yaw: head(time), pitch: pitch(time)).quaternion
        * Quaternion(rotationVector: noise.vector() * (degrees / degreesPerRadian))
      source.push(HeadSample(time: now, headToWorld: pose))
      return yaw(source.pose(at: now, now: now))
    }
  }

  /// How far the stage has moved relative to the head, in degrees, averaged over half a second.
  private func moved(_ yaws: [Double], _ head: (Double) -> Double) -> [Double] {
    let raw = yaws.enumerated().map { $0.element - head(Double($0.offset) * 0.01) }
    return (0..<(raw.count - 50)).map { raw[$0..<($0 + 50)].reduce(0, +) / 50 }
  }

  @Test(arguments: [10.0, -10, 14])
  func accumulatedDriftIsRemovedAtLessThan1DegreePerSecond(drift: Double) {
    // The head moves around while drift accumulates, then rests.
    let head = { (time: Double) in
      drift * min(1, time / 30) + (time < 30 ? 25 * sine(1.7 * time) : 0)
    }
    let yaws = play(head, pitch: { 10 * sine($0) }, seconds: 90)
    let moved = moved(yaws, head)
    let speeds = zip(moved, moved.dropFirst(50)).map { abs($1 - $0) / 0.5 }
    let back = yaws.enumerated().first { $0.offset > 3000 && abs($0.element) < 1 }
    print(
      "drift of \(drift) degrees: within a degree after", Double(back?.offset ?? 0) * 0.01 - 30,
      "s of rest, at most \(speeds.max() ?? 0) deg/s")
    #expect((speeds.max() ?? 9) < 1)
    #expect(abs(yaws.last ?? 9) < 0.6)
  }

  @Test func lookingToTheSideDoesNotMoveTheStage() {
    for side in [60.0, -60, 20] {
      let head = { (time: Double) in
        side * (Fade.minimumJerk((time - 10) / 0.6) - Fade.minimumJerk((time - 30) / 0.6))
      }
      let yaws = play(head, seconds: 40)
      let moved = moved(yaws, head)
      let worst = moved[1000..<3000].map { abs($0 - moved[990]) }.max() ?? 9
      print("look to \(side) degrees for 20 s: the stage moves by \(worst) degrees")
      #expect(worst < 0.3)
    }
  }

  /// With a constant drift of 0.1 degrees/s and a turn every few seconds, the front stays.
  @Test func constantDriftIsCompensated() {
    let look = { (time: Double) -> Double in
      let within = time.truncatingRemainder(dividingBy: 15)
      return 50 * (Fade.minimumJerk((within - 10) / 0.5) - Fade.minimumJerk((within - 13) / 0.5))
    }
    let yaws = play({ look($0) + 0.1 * $0 }, seconds: 600)
    let late = yaws.enumerated().filter {
      $0.offset > 30_000 && look(Double($0.offset) * 0.01) == 0
    }
    let worst = late.map { abs($0.element) }.max() ?? 99
    print("drift of 6 degrees a minute, head ahead two thirds of the time: off by \(worst) degrees")
    #expect(worst < 2.5)
  }

  @Test func driftCorrectionCanBeSwitchedOff() {
    let source = HeadPoseSource()
    source.takesDriftBack = false
    let yaws = play({ 10 * min(1, $0 / 5) }, seconds: 60, source: source)
    #expect(abs((yaws.last ?? 0) - 10) < 0.5)
  }

  /// A front that was kept applies again, whatever direction the head faces at first.
  @Test func keptFrontAppliesToANewSource() throws {
    let first = HeadPoseSource()
    _ = play({ _ in 35 }, seconds: 2, source: first)
    let front = try #require(first.front)
    #expect(abs(front * degreesPerRadian - 35) < 0.5)
    let second = HeadPoseSource()
    second.keepFront(front)
    let yaws = play({ _ in 75 }, seconds: 2, source: second)
    #expect(abs((yaws.last ?? 0) - 40) < 0.5)
  }
}
