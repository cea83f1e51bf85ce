// SPDX-License-Identifier: Apache-2.0

import Geometry

/// A sample prepared for the renderer, with a smoothed time and a continuous reference frame.
struct StampedPose: Sendable, Equatable {
  /// When the tracker took the sample, by its regular clock, in CLOCK_MONOTONIC nanoseconds.
  var time: Int64
  /// When the sample arrived, in CLOCK_MONOTONIC nanoseconds.
  var arrival: Int64
  /// When it was ready for the renderer, in CLOCK_MONOTONIC nanoseconds; 0 if unknown.
  var ready: Int64 = 0
  /// The tracker's sampling interval, in nanoseconds.
  var interval: Int64
  /// The orientation: `headToWorld` from `SampleConditioner`, `deviceToWorld` in
  /// `DeviceToWorldTimeline`, `headToStage` from `HeadToStageConditioner`.
  var orientation: Quaternion
  /// Angular velocity in the head's frame, in rad/s; valid only if `hasVelocity`.
  var angularVelocity: SIMD3<Double>
  var hasVelocity: Bool
  /// Differs from the previous sample's value if a new reference frame began in between, for
  /// example because the tracker was switched on or replaced: the front is now where the head
  /// faces. It is a counter, so that a reader that missed samples notices the change too.
  var reference: UInt16
  /// Differs from the previous sample if the reference frame jumped; the yaw continues.
  var breaks: UInt16
  /// Differs from the previous sample if the listener chose a new front.
  var fronts: UInt16
  /// The predicted motion of the head.
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

  /// The predicted orientation of the head after this sample.
  ///
  /// - Parameter seconds: time since the sample, not negative.
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
