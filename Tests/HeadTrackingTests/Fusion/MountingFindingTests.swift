// SPDX-License-Identifier: Apache-2.0

import Geometry
import System
import TestSupport
import Testing

@testable import HeadTracking

@Suite struct MountingFindingTests {
  /// What a tracker with a mounting delivers for a head.
  private func delivered(_ head: Quaternion, _ mounting: TrackerMounting) -> Quaternion {
    var turn = head * mounting.rotation
    if mounting.isUpsideDown { turn = Quaternion(w: 0, x: 1, y: 0, z: 0).conjugate * turn }
    if mounting.isInverse { turn = turn.conjugate }
    guard mounting.components == .wxyz else { return turn }
    return Quaternion(w: turn.z, x: turn.w, y: turn.x, z: turn.y)
  }

  private func pose(_ yaw: Double, _ pitch: Double, _ roll: Double) -> Quaternion {
    YawPitchRoll(yaw: yaw, pitch: pitch, roll: roll).quaternion
  }

  private static let conventions: [TrackerMounting] = TrackerMounting.Components.allCases
    .flatMap { components in
      [false, true].flatMap { inverse in
        [false, true].map { down in
          TrackerMounting(
            rotation: .identity, components: components, isInverse: inverse, isUpsideDown: down)
        }
      }
    }

  @Test("Three inexact poses give nearly every mounting and convention", arguments: conventions)
  func finds(conventions: TrackerMounting) throws {
    var random = SeededGenerator.forTest()
    var wrongCount = 0
    for _ in 0..<50 {
      var mounting = conventions
      mounting.rotation = randomTurn(using: &random)
      let heading = Double.random(in: -180...180, using: &random)
      func error() -> Double { Double.random(in: -4...4, using: &random) }
      let finding = try MountingFinding(
        ahead: delivered(pose(heading, 0, 0), mounting),
        up: delivered(pose(heading + error(), 30, error()), mounting),
        left: delivered(pose(heading + 90 + error(), error(), error()), mounting))
      let wanted = pose(20, 15, -10)
      let found = finding.mounting.headToWorld(delivered(wanted, mounting))
      // Only the vertical axis is certain; the heading of the front depends on the look up.
      let a = found.conjugate.rotate(SIMD3(0, 0, 1))
      let b = wanted.conjugate.rotate(SIMD3(0, 0, 1))
      let isUpright = ((a - b) * (a - b)).sum().squareRoot() < 0.25
      // A turn to the left is one to the left, by the same angle.
      let turned = finding.mounting.headToWorld(delivered(pose(70, 0, 0), mounting))
      let straight = finding.mounting.headToWorld(delivered(pose(0, 0, 0), mounting))
      let turn = (straight.conjugate * turned).rotationVector * (180 / .pi)
      let isLeft = abs(turn.z - 70) < 6 && abs(turn.x) < 10 && abs(turn.y) < 10
      if !isUpright || !isLeft { wrongCount += 1 }
    }
    // If the sensor is nearly upside down in the ear, inexact poses can fit another convention.
    #expect(wrongCount <= 3)
  }

  @Test("Exact poses give every mounting and convention", arguments: conventions)
  func findsExactly(conventions: TrackerMounting) throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<50 {
      var mounting = conventions
      mounting.rotation = randomTurn(using: &random)
      let heading = Double.random(in: -180...180, using: &random)
      let finding = try MountingFinding(
        ahead: delivered(pose(heading, 0, 0), mounting),
        up: delivered(pose(heading, 30, 0), mounting),
        left: delivered(pose(heading + 90, 0, 0), mounting))
      let straight = finding.mounting.headToWorld(delivered(pose(0, 0, 0), mounting))
      let wanted = pose(20, 15, -10)
      let found = finding.mounting.headToWorld(delivered(wanted, mounting))
      // The head relative to the front; the heading of the tracker's world is arbitrary.
      let turn = Quaternion.angle(between: straight.conjugate * found, wanted) * 180 / .pi
      #expect(turn < 0.5)
    }
  }

  @Test("A turn that does not measure 70 to 110 degrees is refused, and so is one to the right")
  func refuses() {
    var random = SeededGenerator.forTest()
    let mounting = TrackerMounting(rotation: randomTurn(using: &random))
    func find(_ up: Double, _ left: Double) throws -> MountingFinding {
      try MountingFinding(
        ahead: delivered(pose(0, 0, 0), mounting), up: delivered(pose(0, up, 0), mounting),
        left: delivered(pose(left, 0, 0), mounting))
    }
    #expect(throws: Never.self) { try find(30, 90) }
    for left in [60.0, 120] {
      #expect { try find(30, left) } throws: {
        if case CalibrationError.notAQuarter = $0 { true } else { false }
      }
    }
    #expect { try find(5, 90) } throws: {
      if case CalibrationError.turnTooSmall(.up, _) = $0 { true } else { false }
    }
  }
}
