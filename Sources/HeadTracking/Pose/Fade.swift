// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// A turn in the head's frame that fades away over stream time.
struct Fade: Sendable {
  private var turn = SIMD3<Double>(0, 0, 0)
  private var start: Int64 = 0
  private var duration = 1.0

  /// No turn at all.
  @_noLocks
  init() {}

  /// - Parameters:
  ///   - turn: the rotation vector at the start, radians.
  ///   - start: stream time, nanoseconds.
  ///   - duration: nanoseconds.
  @_noLocks
  init(_ turn: SIMD3<Double>, from start: Int64, over duration: Double) {
    self.turn = turn
    self.start = start
    self.duration = max(1, duration)
  }

  /// What is left when it goes evenly.
  @_noLocks
  func linear(_ time: Int64) -> Quaternion {
    left(1 - min(1, max(0, Double(time - start) / duration)))
  }

  /// What is left when it goes as a hand moves.
  @_noLocks
  func smooth(_ time: Int64) -> Quaternion {
    left(1 - Fade.minimumJerk(Double(time - start) / duration))
  }

  @_noLocks
  private func left(_ share: Double) -> Quaternion {
    guard share > 0 else { return Quaternion(w: 1, x: 0, y: 0, z: 0) }
    return Quaternion(rotationVector: turn * share)
  }

  /// 0 to 1 with no speed and no acceleration at the ends (Flash and Hogan, J. Neurosci. 1985).
  @_noLocks
  static func minimumJerk(_ fraction: Double) -> Double {
    let s = min(1, max(0, fraction))
    return s * s * s * (10 - 15 * s + 6 * s * s)
  }
}
