// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc

/// The motion of Tests/Fixtures/imu_families.py: a head that never rests.
enum WaveTruth {
  static func head(_ time: Double) -> Quaternion {
    func wave(_ degrees: Double, _ hertz: Double, _ phase: Double) -> Double {
      degrees * sin(2 * .pi * hertz * time + phase)
    }
    return YawPitchRoll(
      yaw: wave(40, 0.2, 0), pitch: wave(20, 0.31, 1), roll: wave(15, 0.23, 2)
    ).quaternion
  }

  /// Angular velocity in the head's axes, in rad/s.
  static func rate(_ time: Double) -> SIMD3<Double> {
    (head(time - 1e-4).conjugate * head(time + 1e-4)).rotationVector / 2e-4
  }

  /// Specific force in the head's axes, in m/s2.
  static func force(_ time: Double) -> SIMD3<Double> {
    head(time).conjugate.rotate(SIMD3(0, 0, 9.80665))
  }

  /// Magnetic field in the head's axes, in uT.
  static func field(_ time: Double) -> SIMD3<Double> {
    head(time).conjugate.rotate(SIMD3(20, 0, -40))
  }
}

/// A sample that the probe printed.
struct PrintedSample {
  var time: Int64
  var arrival: Int64
  var numbers: [Double]
  var isRaw: Bool

  init?(_ line: String) {
    let words = line.split(separator: " ")
    guard let kind = words.first, kind == "raw" || kind == "head", words.count > 9,
      let time = Int64(words[1]), let arrival = Int64(words[words.count - 1])
    else { return nil }
    self.time = time
    self.arrival = arrival
    isRaw = kind == "raw"
    numbers = words[2..<words.count - 2].map { Double($0) ?? .nan }
  }

  var seconds: Double { Double(time) * 1e-9 }
  func vector(_ at: Int) -> SIMD3<Double> {
    SIMD3(numbers[at], numbers[at + 1], numbers[at + 2])
  }
  var head: Quaternion {
    Quaternion(w: numbers[0], x: numbers[1], y: numbers[2], z: numbers[3])
  }
}

extension Array where Element == Double {
  /// The quantile of the values for a fraction from 0 to 1; NaN if there are none.
  func share(_ part: Double) -> Double {
    isEmpty ? .nan : sorted()[Int(Double(count - 1) * part)]
  }
}

func length(_ v: SIMD3<Double>) -> Double { (v * v).sum().squareRoot() }
