// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// The least-squares predictor of Android's head tracking library, written from its published
/// description.
///
/// Each quaternion component is extrapolated along a line that is fitted to the past poses. Each
/// newer pose multiplies the weight of the older poses by 0.8.
struct LeastSquaresPredictor {
  private static let keep = 0.8
  private var count = 0
  private var last: (time: Int64, pose: Quaternion)?
  /// The weighted sums of 1, t, t^2, q and t q over the poses, where t is a pose's time in seconds
  /// relative to the newest pose, and q are the pose's components.
  private var weight = 0.0
  private var times = 0.0
  private var squares = 0.0
  private var poses = SIMD4<Double>(0, 0, 0, 0)
  private var products = SIMD4<Double>(0, 0, 0, 0)

  mutating func add(_ pose: Quaternion, time: Int64) {
    var q = SIMD4(pose.w, pose.x, pose.y, pose.z)
    if let last {
      let before = SIMD4(last.pose.w, last.pose.x, last.pose.y, last.pose.z)
      if (before * q).sum() < 0 { q = -q }
      let step = Double(time - last.time) * 1e-9
      squares = Self.keep * (squares - 2 * step * times + step * step * weight)
      times = Self.keep * (times - step * weight)
      products = Self.keep * (products - step * poses)
      weight *= Self.keep
      poses *= Self.keep
    }
    weight += 1
    poses += q
    count += 1
    last = (time, Quaternion(w: q[0], x: q[1], y: q[2], z: q[3]))
  }

  mutating func restart() { self = LeastSquaresPredictor() }

  /// Returns the pose predicted for `seconds` after the last pose. Returns the last pose if there
  /// are fewer than four poses or if all have the same time, and the identity if there are none.
  func pose(after seconds: Double) -> Quaternion {
    let determinant = weight * squares - times * times
    guard count >= 4, determinant > 0 else { return last?.pose ?? .identity }
    let slope = (weight * products - times * poses) / determinant
    let q = (poses - slope * times) / weight + slope * seconds
    return Quaternion(w: q[0], x: q[1], y: q[2], z: q[3]).normalized
  }
}
