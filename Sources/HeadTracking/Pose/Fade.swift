// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// A rotation that decays to zero.
struct Fade: Sendable {
  private var turn = SIMD3<Double>(0, 0, 0)
  private var start: Int64 = 0
  private var duration = 1.0

  @_noLocks
  init() {}

  /// Creates a fade from a rotation vector in radians. The start and the duration are in
  /// nanoseconds. A duration below 1 counts as 1.
  @_noLocks
  init(_ turn: SIMD3<Double>, from start: Int64, over duration: Double) {
    self.turn = turn
    self.start = start
    self.duration = max(1, duration)
  }

  /// Returns the rotation that remains at a time if it decays linearly.
  @_noLocks
  func linear(_ time: Int64) -> Quaternion {
    left(1 - min(1, max(0, Double(time - start) / duration)))
  }

  /// Returns the rotation that remains at a time if it decays along a minimum-jerk curve.
  @_noLocks
  func smooth(_ time: Int64) -> Quaternion {
    left(1 - Fade.minimumJerk(Double(time - start) / duration))
  }

  @_noLocks
  private func left(_ share: Double) -> Quaternion {
    guard share > 0 else { return Quaternion(w: 1, x: 0, y: 0, z: 0) }
    return Quaternion(rotationVector: turn * share)
  }

  /// Returns the value of the minimum-jerk curve `10 s^3 - 15 s^4 + 6 s^5`, where `s` is `fraction`
  /// clamped to the range from 0 to 1 (Flash and Hogan, J. Neurosci. 1985).
  @_noLocks
  static func minimumJerk(_ fraction: Double) -> Double {
    let s = min(1, max(0, fraction))
    return s * s * s * (10 - 15 * s + 6 * s * s)
  }
}
