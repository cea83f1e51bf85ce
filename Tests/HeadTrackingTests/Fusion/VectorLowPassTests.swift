// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import HeadTracking

@Suite struct VectorLowPassTests {
  /// The step response of a second-order Butterworth low-pass with its corner at sqrt(2) / time
  /// rad/s.
  private func step(_ seconds: Double, time: Double) -> Double {
    let s = seconds / time
    return 1 - exp(-s) * (cos(s) + sin(s))
  }

  @Test(arguments: [0.001, 0.0035, 0.04])
  func stepResponseIsThatOfAButterworthFilter(spacing: Double) {
    var filter = VectorLowPass(time: 1)
    var now = 0.0
    while now < 2 {
      _ = filter.update(.zero, seconds: spacing)
      now += spacing
    }
    for index in 1..<Int(5 / spacing) {
      let value = filter.update(SIMD3(1, -2, 0), seconds: spacing)
      // The trapezoidal rule places the step in the middle of the sampling interval.
      let truth = step((Double(index) - 0.5) * spacing, time: 1)
      #expect(abs(value.x - truth) < spacing * 0.2)
      #expect(abs(value.y + 2 * value.x) < 1e-12)
    }
  }

  @Test func changesOfSpacingDoNotAffectConstantInput() {
    var filter = VectorLowPass(time: 1)
    for _ in 0..<3000 { _ = filter.update(SIMD3(3, 1, 2), seconds: 0.001) }
    for spacing in [0.04, 0.0001, 0.5, 0.003, 2, 0.01] {
      let value = filter.update(SIMD3(3, 1, 2), seconds: spacing)
      #expect(abs(value.x - 3) + abs(value.y - 1) + abs(value.z - 2) < 1e-9)
    }
  }

  @Test func firstOutputsAreTheMeanOfTheInputs() {
    var filter = VectorLowPass(time: 1)
    var sum = 0.0
    for index in 0..<90 {
      sum += Double(index)
      let value = filter.update(SIMD3(Double(index), 0, 0), seconds: 0.01)
      #expect(abs(value.x - sum / Double(index + 1)) < 1e-9)
    }
    filter.restart()
    #expect(filter.update(SIMD3(7, 0, 0), seconds: 0.01).x == 7)
  }
}
