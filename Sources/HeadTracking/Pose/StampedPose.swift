// SPDX-License-Identifier: Apache-2.0

import Geometry

/// A sample that `SampleConditioner` has prepared.
struct StampedPose: Sendable, Equatable {
  /// The estimated time at which the tracker took the sample, in CLOCK_MONOTONIC nanoseconds.
  var time: Int64
  /// The time of the sample before smoothing, `HeadSample.time`.
  var arrival: Int64
  /// When the pose was ready for the renderer, in CLOCK_MONOTONIC nanoseconds; 0 if unknown.
  var ready: Int64 = 0
  /// The tracker's sampling interval, in nanoseconds.
  var interval: Int64
  /// `headToWorld`, `deviceToWorld` or `headToStage`, depending on the processing step.
  var orientation: Quaternion
  /// Angular velocity in the frame of the head or the device, in rad/s; valid only if
  /// `hasVelocity`.
  var angularVelocity: SIMD3<Double>
  var hasVelocity: Bool
  /// A counter of the tracker's reference frames. A jump of the reference frame does not change it.
  var reference: UInt16
  /// A counter of the jumps of the reference frame.
  var breaks: UInt16
  /// A counter of the new fronts that the listener chose.
  var fronts: UInt16
  var forecast: Forecast

  @_noLocks
  init(
    time: Int64, arrival: Int64, interval: Int64, orientation: Quaternion,
    angularVelocity: SIMD3<Double> = SIMD3(0, 0, 0), hasVelocity: Bool = false,
    reference: UInt16 = 0, breaks: UInt16 = 0, fronts: UInt16 = 0, forecast: Forecast = Forecast()
  ) {
    self.time = time
    self.arrival = arrival
    self.interval = interval
    self.orientation = orientation
    self.angularVelocity = angularVelocity
    self.hasVelocity = hasVelocity
    self.reference = reference
    self.breaks = breaks
    self.fronts = fronts
    self.forecast = forecast
  }

  /// Returns the orientation predicted for the given number of seconds after this sample.
  @_noLocks
  func foreseen(after seconds: Double) -> Quaternion {
    orientation * Quaternion(rotationVector: forecast.turn(after: seconds))
  }

  /// Of the two quaternions for this orientation, chooses the one nearer to that of `other`.
  mutating func takeSign(of other: StampedPose) {
    let (a, b) = (other.orientation, orientation)
    guard a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < 0 else { return }
    orientation = Quaternion(w: -b.w, x: -b.x, y: -b.y, z: -b.z)
  }
}
