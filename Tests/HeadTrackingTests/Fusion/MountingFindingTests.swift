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
      let result = Result { () throws(CalibrationError) in
        try MountingFinding(
          ahead: delivered(pose(heading, 0, 0), mounting),
          up: delivered(pose(heading + error(), 30, error()), mounting),
          left: delivered(pose(heading + 90 + error(), error(), error()), mounting))
      }
      if case .failure(.mirrored) = result {
        // An upright tracker whose world points down is like a mirrored one.
        wrongCount += 1
        continue
      }
      let finding = try result.get()
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
    var refused = 0
    for _ in 0..<50 {
      var mounting = conventions
      mounting.rotation = randomTurn(using: &random)
      let heading = Double.random(in: -180...180, using: &random)
      let result = Result { () throws(CalibrationError) in
        try MountingFinding(
          ahead: delivered(pose(heading, 0, 0), mounting),
          up: delivered(pose(heading, 30, 0), mounting),
          left: delivered(pose(heading + 90, 0, 0), mounting))
      }
      if case .failure(.mirrored) = result {
        // Within 3 degrees of upright, the conventions cannot be told apart.
        refused += 1
        continue
      }
      let finding = try result.get()
      let straight = finding.mounting.headToWorld(delivered(pose(0, 0, 0), mounting))
      let wanted = pose(20, 15, -10)
      let found = finding.mounting.headToWorld(delivered(wanted, mounting))
      // The head relative to the front; the heading of the tracker's world is arbitrary.
      let turn = Quaternion.angle(between: straight.conjugate * found, wanted) * 180 / .pi
      #expect(turn < 0.5)
    }
    #expect(refused <= 2)
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

  @Test("A mirrored upright tracker is refused with an explanation, and so is a turn to the right")
  func mirrored() throws {
    let poses = [pose(0, 0, 0), pose(0, 30, 0), pose(90, 0, 0)]
    let mirrors: [(Quaternion) -> Quaternion] = [
      // The sign of the yaw, of one component, of the whole turn, and a world that points down.
      {
        YawPitchRoll(yaw: -YawPitchRoll($0).yaw, pitch: YawPitchRoll($0).pitch, roll: 0).quaternion
      },
      { Quaternion(w: $0.w, x: $0.x, y: $0.y, z: -$0.z) }, { $0.conjugate },
      { Quaternion(w: $0.w, x: $0.x, y: -$0.y, z: -$0.z) },
    ]
    for mirror in mirrors {
      let seen = poses.map(mirror)
      #expect(throws: CalibrationError.mirrored) {
        try MountingFinding(ahead: seen[0], up: seen[1], left: seen[2])
      }
    }
    #expect(throws: CalibrationError.mirrored) {
      try MountingFinding(ahead: poses[0], up: poses[1], left: pose(-90, 0, 0))
    }
    #expect(throws: CalibrationError.mirrored) {
      try AxisFinding(ahead: poses[0], up: poses[1], left: pose(-60, 0, 0), isUpright: true)
    }
    let text = CalibrationError.mirrored.description
    #expect(text.contains("mirrored") && text.contains("profile") && !text.contains("\n"))
    // The usual tracker is accepted, turned about the vertical axis in any way.
    for yaw in stride(from: 0.0, to: 360, by: 30) {
      let seen = poses.map { $0 * pose(yaw, 0, 0) }
      let finding = try MountingFinding(ahead: seen[0], up: seen[1], left: seen[2])
      let head = finding.mounting.headToWorld(pose(20, 10, 30) * pose(yaw, 0, 0))
      let first = finding.mounting.headToWorld(seen[0])
      let error = Quaternion.angle(between: first.conjugate * head, pose(20, 10, 30)) * 180 / .pi
      #expect(error < 0.2)
    }
  }
}
