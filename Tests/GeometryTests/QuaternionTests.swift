// SPDX-License-Identifier: Apache-2.0

import Geometry
import TestSupport
import Testing

@Suite struct QuaternionTests {
  private func distance(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double {
    ((a - b) * (a - b)).sum().squareRoot()
  }

  @Test func productComposesAndConjugateInvertsRotations() {
    var random = SeededGenerator.forTest()
    for _ in 0..<200 {
      let (a, b, v) = (
        randomTurn(using: &random), randomTurn(using: &random), randomDirection(using: &random)
      )
      #expect(distance((a * b).rotate(v), a.rotate(b.rotate(v))) < 1e-12)
      #expect(distance(RotationMatrix(a).rotate(v), a.rotate(v)) < 1e-12)
      #expect(distance(a.conjugate.rotate(a.rotate(v)), v) < 1e-12)
    }
  }

  @Test func logarithmUndoesTheExponential() {
    var random = SeededGenerator.forTest()
    for scale in [1e-12, 1e-7, 1e-3, 1, 3.14] {
      let v = randomDirection(using: &random) * scale
      #expect(distance(Quaternion(rotationVector: v).rotationVector, v) < 1e-9 * scale + 1e-15)
    }
  }

  @Test func slerpHasConstantSpeedAlongTheShorterArc() {
    var random = SeededGenerator.forTest()
    for _ in 0..<200 {
      let (a, b) = (randomTurn(using: &random), randomTurn(using: &random))
      let whole = Quaternion.angle(between: a, b)
      let flipped = Quaternion(w: -b.w, x: -b.x, y: -b.y, z: -b.z)
      for f in [0, 0.1, 0.5, 0.9, 1] {
        let p = Quaternion.slerp(a, b, f)
        #expect(abs(Quaternion.angle(between: a, p) - f * whole) < 1e-7)
        #expect(Quaternion.angle(between: p, Quaternion.slerp(a, flipped, f)) < 1e-7)
        #expect(abs(p.squaredNorm - 1) < 1e-12)
      }
    }
  }

  /// Positive yaw turns left, positive pitch looks up, and positive roll lowers the right ear.
  @Test func yawPitchAndRollFollowTheSignConvention() {
    let (front, right) = (SIMD3(1.0, 0, 0), SIMD3(0.0, -1, 0))
    #expect(distance(YawPitchRoll(yaw: 90).quaternion.rotate(front), SIMD3(0, 1, 0)) < 1e-12)
    #expect(distance(YawPitchRoll(pitch: 90).quaternion.rotate(front), SIMD3(0, 0, 1)) < 1e-12)
    #expect(distance(YawPitchRoll(roll: 90).quaternion.rotate(right), SIMD3(0, 0, -1)) < 1e-12)
  }

  @Test func yawPitchRollRoundTripsThroughAQuaternion() {
    var random = SeededGenerator.forTest()
    for _ in 0..<200 {
      let angles = YawPitchRoll(
        yaw: .random(in: -179...179, using: &random), pitch: .random(in: -89...89, using: &random),
        roll: .random(in: -179...179, using: &random))
      let back = YawPitchRoll(angles.quaternion)
      #expect(abs(back.yaw - angles.yaw) < 1e-9)
      #expect(abs(back.pitch - angles.pitch) < 1e-9)
      #expect(abs(back.roll - angles.roll) < 1e-9)
    }
  }

  @Test func invalidQuaternionNormalisesToTheIdentity() {
    for bad in [Double.nan, .infinity, 0] {
      #expect(Quaternion(w: bad, x: 0, y: 0, z: 0).normalized == .identity)
    }
  }

  @Test func directionRoundTripsThroughAngles() {
    var random = SeededGenerator.forTest()
    for _ in 0..<200 {
      let v = randomDirection(using: &random)
      #expect(distance(Direction(v).unitVector, v) < 1e-12)
    }
  }
}
