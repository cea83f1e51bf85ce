// SPDX-License-Identifier: Apache-2.0

import CRealtime

/// A direction in degrees. Azimuth is positive to the left; elevation is positive upwards.
public struct Direction: Sendable, Equatable, Hashable {
  public var azimuth: Double
  public var elevation: Double

  public init(azimuth: Double, elevation: Double = 0) {
    self.azimuth = azimuth
    self.elevation = elevation
  }

  /// Computes the direction of a nonzero vector.
  public init(_ v: SIMD3<Double>) {
    azimuth = realtime_atan2(v.y, v.x) * degreesPerRadian
    elevation = realtime_atan2(v.z, realtime_sqrt(v.x * v.x + v.y * v.y)) * degreesPerRadian
  }

  /// The unit vector in this direction; x is front, y left, z up.
  public var unitVector: SIMD3<Double> {
    let (a, e) = (azimuth / degreesPerRadian, elevation / degreesPerRadian)
    return SIMD3(
      realtime_cos(a) * realtime_cos(e), realtime_sin(a) * realtime_cos(e), realtime_sin(e))
  }
}
