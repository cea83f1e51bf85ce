// SPDX-License-Identifier: Apache-2.0

import Geometry

/// Computes a continuous orientation from motion reports, whose quaternions lack the scalar part
/// `w`.
///
/// Of the two quaternions for an orientation, the earphones report the one with non-negative `w`.
/// The reported components therefore change sign when the true `w` passes through zero. This type
/// chooses the sign so that the orientation continues without a jump. If `w` is near zero, a scalar
/// Kalman filter combines the measured `w^2` with the `w` that the angular velocity predicts.
struct MotionOrientation {
  private var last: MotionReport?
  private(set) var sensorToWorld = Quaternion.identity
  /// Variance of `w`.
  private var variance = 0.0

  /// `w` is filtered only if `w^2` is below this value.
  private static let smallSquare = 0.01
  /// The variance of the measured `w^2` that results from the rounding of each component to a
  /// multiple of 1/32767.
  private static let rounding = 1.8e-5 * 1.8e-5
  /// The variance that the prediction of `w` gains per second.
  private static let growth = 4e-7
  /// The angular velocity is integrated from one report to the next only if they are less than this
  /// time apart, in seconds.
  private static let longestGap = 0.25

  /// Updates the orientation from the next report.
  ///
  /// - Returns: the angle, in radians, between the orientation and its prediction, and the seconds
  ///   since the previous report; nil if there is no prediction.
  @discardableResult
  mutating func take(_ report: MotionReport) -> (leap: Double, seconds: Double)? {
    defer { last = report }
    guard let last, report.microseconds > last.microseconds else { return begin(report) }
    let seconds = Double(report.microseconds - last.microseconds) * 1e-6
    guard seconds < Self.longestGap else { return begin(report) }
    let rate = (last.angularVelocity + report.angularVelocity) / 2
    let predicted = sensorToWorld * Quaternion(rotationVector: rate * seconds)
    sensorToWorld = orientation(report, predicted, seconds)
    return (Quaternion.angle(between: predicted, sensorToWorld), seconds)
  }

  private mutating func begin(_ report: MotionReport) -> (leap: Double, seconds: Double)? {
    sensorToWorld = report.orientation
    variance = 1e-6
    return nil
  }

  private mutating func orientation(
    _ report: MotionReport, _ predicted: Quaternion, _ seconds: Double
  ) -> Quaternion {
    let measured = report.orientation
    let square = max(0, 1 - (report.vector * report.vector).sum())
    let along =
      measured.w * predicted.w + measured.x * predicted.x + measured.y * predicted.y
      + measured.z * predicted.z
    let sign: Double = along < 0 ? -1 : 1
    let (vector, root) = (report.vector * sign, measured.w * sign)
    variance += Self.growth * seconds
    // If w is far from zero, and after a jump, `root` is more accurate than a filtered w.
    guard square < Self.smallSquare, abs(abs(predicted.w) - measured.w) < 0.1 else {
      variance = Self.rounding / max(1e-6, 4 * square)
      return Quaternion(w: root, x: vector.x, y: vector.y, z: vector.z).normalized
    }
    // The state is w and the measurement is w^2, which is linearised at the predicted w.
    let slope = 2 * predicted.w
    let gain = variance * slope / (variance * slope * slope + Self.rounding)
    variance *= 1 - gain * slope
    let w = predicted.w + gain * (square - predicted.w * predicted.w)
    return Quaternion(w: w, x: vector.x, y: vector.y, z: vector.z).normalized
  }
}
