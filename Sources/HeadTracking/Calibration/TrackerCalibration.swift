// SPDX-License-Identifier: Apache-2.0

import Geometry

/// The calibration of a tracker, as measured by `stillstage calibrate`.
public struct TrackerCalibration: Sendable, Equatable {
  /// The version of the file format that this program reads and writes.
  public static let currentVersion = 1

  public var vendorID: UInt16
  public var productID: UInt16
  /// The serial number; empty if the tracker has none.
  public var serial: String
  public var name: String
  /// The map from the axes of the driver's samples to the axes of the head.
  public var axes: AxisMap
  /// The axis of the tracker's reference frame that points up.
  public var up: SignedAxis
  /// The exact mounting; nil if it was not measured. It replaces `axes` and `up` in the conversion
  /// of a `HeadSample`.
  public var mounting: TrackerMounting?
  /// The gyroscope's bias in rad/s, in the axes of the driver's samples; nil if unknown.
  public var gyroBias: SIMD3<Double>?
  /// Standard deviation of a gyroscope sample on each axis, in rad/s; nil if unknown.
  public var gyroNoise: SIMD3<Double>?
  /// Standard deviation of an accelerometer sample on each axis, in m/s2; nil if unknown.
  public var forceNoise: SIMD3<Double>?
  /// The number of samples per second.
  public var rate: Double

  public init(
    of tracker: TrackerDescription, axes: AxisMap, up: SignedAxis, gyroBias: SIMD3<Double>? = nil,
    gyroNoise: SIMD3<Double>? = nil, forceNoise: SIMD3<Double>? = nil, rate: Double
  ) {
    self.init(
      vendorID: tracker.vendorID, productID: tracker.productID, serial: tracker.serial,
      name: tracker.name, axes: axes, up: up, gyroBias: gyroBias, gyroNoise: gyroNoise,
      forceNoise: forceNoise, rate: rate)
  }

  public init(
    vendorID: UInt16, productID: UInt16, serial: String, name: String, axes: AxisMap,
    up: SignedAxis, gyroBias: SIMD3<Double>? = nil, gyroNoise: SIMD3<Double>? = nil,
    forceNoise: SIMD3<Double>? = nil, rate: Double
  ) {
    self.vendorID = vendorID
    self.productID = productID
    self.serial = serial
    self.name = name
    self.axes = axes
    self.up = up
    self.gyroBias = gyroBias
    self.gyroNoise = gyroNoise
    self.forceNoise = forceNoise
    self.rate = rate
  }

  /// Checks the bias, the noise and the rate.
  ///
  /// - Throws: `badValue` for the first invalid value.
  public func validate() throws(CalibrationError) {
    let largest = StillnessReport.largestBias * .pi / 180
    if let bias = gyroBias, !(bias.length <= largest) {
      let limit = Int(StillnessReport.largestBias)
      throw .badValue("the gyroscope's bias is above \(limit) degrees/s")
    }
    if let noise = gyroNoise, !(noise.min() >= 0 && noise.max() * 180 / .pi <= 1000) {
      throw .badValue("the gyroscope's noise must be from 0 to 1000 degrees/s")
    }
    if let noise = forceNoise, !(noise.min() >= 0 && noise.max() <= 1000) {
      throw .badValue("the accelerometer's noise must be from 0 to 1000 m/s2")
    }
    guard rate > 0, rate <= 100_000 else {
      throw .badValue("the sample rate must be above 0 and at most 100000 Hz")
    }
  }

  /// Checks that the calibration is for this tracker.
  ///
  /// - Throws: `otherTracker` if the vendor, the product or the serial number differs.
  public func check(for tracker: TrackerDescription) throws(CalibrationError) {
    let isSame =
      vendorID == tracker.vendorID && productID == tracker.productID && serial == tracker.serial
    guard isSame else {
      throw .otherTracker(serial.isEmpty ? name : "\(name) with the serial number \(serial)")
    }
  }

  // MARK: Applying it

  /// Returns the sample in the head's axes, in a reference frame whose z axis points up. If there
  /// is no `mounting`, also subtracts the gyroscope's bias from any angular velocity other than
  /// zero.
  public func applied(to sample: HeadSample) -> HeadSample {
    if let mounting { return Self.applied(mounting, to: sample) }
    let map = axes.quaternion
    let level = Quaternion.shortest(from: axes.apply(up.direction), to: SignedAxis.z.direction)
    var sample = sample
    sample.headToWorld = (level * map * sample.headToWorld * map.conjugate).normalized
    if let rate = sample.angularVelocity, rate != .zero {
      sample.angularVelocity = axes.apply(rate - (gyroBias ?? .zero))
    }
    return sample
  }

  private static func applied(_ mounting: TrackerMounting, to sample: HeadSample) -> HeadSample {
    var sample = sample
    sample.headToWorld = mounting.headToWorld(sample.headToWorld)
    sample.angularVelocity = sample.angularVelocity.map(mounting.rotation.rotate)
    return sample
  }

  /// Returns the raw sample in the head's axes. Does not remove the gyroscope's bias; the filter
  /// that fuses raw samples does.
  public func applied(to sample: InertialSample) -> InertialSample {
    InertialSample(
      time: sample.time, angularVelocity: axes.apply(sample.angularVelocity),
      specificForce: axes.apply(sample.specificForce),
      magneticField: sample.magneticField.map(axes.apply))
  }

  /// The initial bias of the filter that fuses raw samples: the gyroscope's bias in the head's
  /// axes, in rad/s; nil if it was not measured.
  public var filterBias: SIMD3<Double>? { gyroBias.map(axes.apply) }
}
