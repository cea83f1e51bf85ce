// SPDX-License-Identifier: Apache-2.0
import Geometry
import Testing
@testable import HeadTracking
@Suite struct Scratch {
  @Test func scratch() {
    var trust = GyroTrust()
    var prev = Quaternion.identity
    var was = true
    for i in 1..<1200 {
      let t = Double(i) * 0.01
      let q = YawPitchRoll(yaw: 40 * sine(2 * t), pitch: 15 * sine(3 * t)).quaternion
      let step = (prev.conjugate * q).rotationVector
      prev = q
      trust.compare(gyroscope: step * 57.3, pose: q, time: Int64(t * 1e9))
      if trust.isTrusted != was { print("trust \(trust.isTrusted) at \(t)"); was = trust.isTrusted }
    }
  }
}
