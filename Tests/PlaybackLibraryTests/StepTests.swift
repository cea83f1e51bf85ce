// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Geometry
import Glibc
import Playback
import TestSupport
import Testing

/// A head whose pose steps by 30 degrees with every block of 128 frames.
@Suite struct StepTests {
  private static let rate = 48_000.0

  private static func render(headPose: (Int) -> Quaternion) throws -> [Float] {
    let renderer = try SampleRenderer(
      layout: .ambisonics(order: 1, convention: .ambiX, headLocked: false), sampleRate: rate)
    let gains = SphericalHarmonics.evaluate(order: 1, SIMD3(1, 0, 0))
    var left: [Float] = []
    for block in 0..<1500 {
      var samples: [Float] = []
      for n in 0..<128 {
        let x = 0.3 * sin(2 * .pi * 1000 * Double(128 * block + n) / rate)
        samples += gains.map { Float($0 * x) }
      }
      let ears = renderer.render(samples, headPose: headPose(block))
      for n in 0..<128 { left.append(ears[2 * n]) }
    }
    return Array(left[48_000..<(48_000 + 131_072)])
  }

  /// Returns the energy further than `hertz` from 1 kHz, relative to the energy within 300 Hz of
  /// it.
  private static func splatter(_ samples: [Float], beyond hertz: Double) -> Double {
    let signal = ComplexSignal(samples.count)
    let window = kaiser(samples.count, beta: 25)
    for (i, sample) in samples.enumerated() { signal.re[i] = Double(sample) * window[i] }
    signal.transform(sign: -1)
    var (near, far) = (0.0, 0.0)
    for k in 0..<(samples.count / 2) {
      let energy = signal.re[k] * signal.re[k] + signal.im[k] * signal.im[k]
      let distance = abs(Double(k) * rate / Double(samples.count) - 1000)
      if distance <= 300 { near += energy }
      if distance > hertz { far += energy }
    }
    return 10 * log10(far / near)
  }

  private static func kaiser(_ count: Int, beta: Double) -> [Double] {
    func bessel(_ x: Double) -> Double {
      var (term, sum) = (1.0, 1.0)
      for k in 1..<60 {
        term *= (x / 2 / Double(k)) * (x / 2 / Double(k))
        sum += term
      }
      return sum
    }
    return (0..<count).map { i in
      let t = 2 * Double(i) / Double(count - 1) - 1
      return bessel(beta * (1 - t * t).squareRoot()) / bessel(beta)
    }
  }

  @Test func stepsOfThirtyDegreesDoNotSplatter() throws {
    let ear = try Self.render { YawPitchRoll(yaw: 30 * Double($0)).quaternion }
    let (near, far) = (Self.splatter(ear, beyond: 300), Self.splatter(ear, beyond: 3000))
    print("30 degrees in every block of 128: \(near) / \(far) dB beyond 300 Hz / 3 kHz")
    #expect(near < -72)
    #expect(far < -85)
  }
}
