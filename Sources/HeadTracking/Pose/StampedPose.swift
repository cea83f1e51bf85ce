// SPDX-License-Identifier: Apache-2.0

import Geometry

/// A sample made fit for the renderer: its time smoothed, its reference frame continuous.
struct StampedPose: Sendable, Equatable {
  /// When the sample was taken by the tracker's own regular clock, CLOCK_MONOTONIC nanoseconds.
  var time: Int64
  /// When it arrived, CLOCK_MONOTONIC nanoseconds.
  var arrival: Int64
  /// When it was ready for the renderer, CLOCK_MONOTONIC nanoseconds; 0: not known.
  var ready: Int64 = 0
  /// The tracker's sampling interval, nanoseconds.
  var interval: Int64
  /// `headToWorld` as `SampleConditioner` makes it, `deviceToWorld` in `DeviceToWorldTimeline`,
  /// `headToStage` as `HeadToStageConditioner` makes it.
  var orientation: Quaternion
  /// Head frame, rad/s; means something only with `hasVelocity`.
  var angularVelocity: SIMD3<Double>
  var hasVelocity: Bool
  /// Differs from the sample before where the tracker was switched on: the front is where the
  /// head looks now. A number, so that a reader who missed samples knows it all the same.
  var reference: UInt16
  /// Differs from the sample before where the reference frame jumped; the yaw goes on.
  var breaks: UInt16
  /// Differs from the sample before where the listener chose a new front.
  var fronts: UInt16
  /// Where the head is going.
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

  /// Where the head is a time after this sample, as it foresees it.
  ///
  /// - Parameter seconds: not negative.
  @_noLocks
  func foreseen(after seconds: Double) -> Quaternion {
    orientation * Quaternion(rotationVector: forecast.turn(after: seconds))
  }

  /// Of the two quaternions that mean the same turn, takes the one that is nearer to another's.
  mutating func takeSign(of other: StampedPose) {
    let (a, b) = (other.orientation, orientation)
    guard a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < 0 else { return }
    orientation = Quaternion(w: -b.w, x: -b.x, y: -b.y, z: -b.z)
  }
}
