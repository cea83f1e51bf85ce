// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import TestSupport

@testable import HeadTracking

/// An inertial sensor on a head with a known motion. Its gyroscope reports the mean rate since the
/// previous sample, like a sensor with its own filter.
struct SimulatedSensor {
  var rate = 200.0
  /// Gyroscope bias, in degrees/s.
  var bias = SIMD3(0.0, 0, 0)
  /// Standard deviation of one sample, in degrees/s and m/s2.
  var rateNoise = 0.0
  var forceNoise = 0.0
  /// The orientation, sensor to earth, at a time in seconds.
  var motion: (Double) -> Quaternion = { _ in .identity }
  /// The earth's magnetic field (x east, y north, z up), in microtesla.
  var field = SIMD3(0.0, 20, -40)
  var generator = SeededGenerator(7)

  /// Returns the sample with the given index and the true orientation at its time.
  mutating func sample(at index: Int) -> (sample: InertialSample, truth: Quaternion) {
    let (time, step) = (Double(index) / rate, 1 / rate)
    let truth = motion(time)
    let turn = (motion(time - step).conjugate * truth).rotationVector
    let degree = Double.pi / 180
    let sample = InertialSample(
      time: 1_000_000_000 + Int64((time * 1e9).rounded()),
      angularVelocity: turn * rate + (bias + noise(rateNoise)) * degree,
      specificForce: truth.conjugate.rotate(SIMD3(0, 0, 9.81)) + noise(forceNoise),
      magneticField: truth.conjugate.rotate(field))
    return (sample, truth)
  }

  /// Approximately normal noise with this standard deviation on each axis.
  private mutating func noise(_ sigma: Double) -> SIMD3<Double> {
    guard sigma > 0 else { return .zero }
    var sum = SIMD3<Double>.zero
    for _ in 0..<12 { sum += SIMD3.random(in: -0.5...0.5, using: &generator) }
    return sum * sigma
  }

  /// A motion that rests for some seconds, then looks around: up to 60 degrees to the sides and 25
  /// degrees up and down.
  static func lookingAround(after rest: Double) -> (Double) -> Quaternion {
    { time in
      guard time > rest else { return .identity }
      let (t, ease) = (time - rest, min(1, (time - rest) / 2))
      return YawPitchRoll(
        yaw: ease * 60 * sin(0.9 * t), pitch: ease * 25 * sin(0.7 * t + 0.4 * sin(0.3 * t)),
        roll: ease * 10 * sin(1.3 * t)
      ).quaternion
    }
  }
}

/// The angle between the up directions of two orientations, in degrees.
func inclinationError(_ a: Quaternion, _ b: Quaternion) -> Double {
  let error = a * b.conjugate
  return 2 * acos(min(1, (error.w * error.w + error.z * error.z).squareRoot())) * 180 / .pi
}

/// The difference of two headings, in degrees, -180 to 180.
func headingError(_ a: Quaternion, _ b: Quaternion) -> Double {
  let error = a * b.conjugate
  return (2 * atan2(error.z, error.w) * 180 / .pi).remainder(dividingBy: 360)
}
