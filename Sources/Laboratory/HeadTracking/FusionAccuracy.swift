// SPDX-License-Identifier: Apache-2.0

package import Geometry
import Glibc
package import HeadTracking

/// The error of an estimated orientation relative to the truth.
///
/// The error is the quaternion estimate * conjugate(truth) in the earth frame. Its components w and
/// z give the inclination, 2 acos sqrt(w^2 + z^2), and the heading, 2 atan(z / w) [D. Laidig, M.
/// Caruso, A. Cereatti, T. Seel, "BROAD - A benchmark for robust inertial orientation estimation",
/// Data 6(7):72, 2021, section 3.3].
package struct FusionAccuracy: Sendable, Equatable {
  /// Root mean square of the inclination error, in degrees.
  package let inclinationDegrees: Double
  /// Root mean square of the heading error after subtracting its circular mean, in degrees.
  package let headingDegrees: Double
  /// Root mean square of the heading error, in degrees.
  package let absoluteHeadingDegrees: Double
  /// Magnitude of the slope of a line fitted to the unwrapped heading error, in degrees per minute.
  package let driftDegreesPerMinute: Double

  /// The inclination error and the unwrapped heading error over time. Errors are in degrees, times
  /// in s.
  package struct Course: Sendable, Equatable {
    package private(set) var times: [Double] = []
    package private(set) var inclination: [Double] = []
    package private(set) var heading: [Double] = []

    /// Computes an estimate's error at each scored sample with a known truth.
    ///
    /// - Parameters:
    ///   - estimate: the rotations from sensor to earth, one per sample of the recording.
    ///   - recording: a recording with ground truth.
    package init(_ estimate: [Quaternion], against recording: InertialRecording) {
      precondition(estimate.count == recording.times.count)
      for (index, truth) in recording.truth.enumerated() where recording.isScored[index] {
        guard let truth else { continue }
        let error = estimate[index] * truth.conjugate
        let cosine = min(1, (error.w * error.w + error.z * error.z).squareRoot())
        let angle = 2 * atan2(error.z, error.w) * 180 / .pi
        let before = heading.last ?? 0
        times.append(recording.times[index])
        inclination.append(2 * acos(cosine) * 180 / .pi)
        heading.append(before + (angle - before).remainder(dividingBy: 360))
      }
    }
  }

  /// Computes the figures of a course; nil if it has fewer than two samples.
  package init?(_ course: Course) {
    let count = Double(course.times.count)
    guard count > 1 else { return nil }
    func rms(_ values: [Double]) -> Double {
      (values.reduce(0) { $0 + $1 * $1 } / count).squareRoot()
    }
    let radians = course.heading.map { $0 * .pi / 180 }
    let mean =
      atan2(radians.reduce(0) { $0 + sin($1) }, radians.reduce(0) { $0 + cos($1) }) * 180 / .pi
    inclinationDegrees = rms(course.inclination)
    headingDegrees = rms(course.heading.map { ($0 - mean).remainder(dividingBy: 360) })
    absoluteHeadingDegrees = rms(course.heading.map { $0.remainder(dividingBy: 360) })
    driftDegreesPerMinute = abs(Self.slope(course.times, course.heading)) * 60
  }

  /// Returns the slope of the least-squares line; 0 if all x are equal.
  private static func slope(_ x: [Double], _ y: [Double]) -> Double {
    let count = Double(x.count)
    let (meanX, meanY) = (x.reduce(0, +) / count, y.reduce(0, +) / count)
    var (product, square) = (0.0, 0.0)
    for (x, y) in zip(x, y) {
      product += (x - meanX) * (y - meanY)
      square += (x - meanX) * (x - meanX)
    }
    return square > 0 ? product / square : 0
  }
}
