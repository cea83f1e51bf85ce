// SPDX-License-Identifier: Apache-2.0

import Geometry

/// What `stillstage calibrate` found out of one tracker, and how it is applied.
public struct TrackerCalibration: Sendable, Equatable {
  /// Of the format; a calibration of another version is not used.
  public static let currentVersion = 1

  public var vendorID: UInt16
  public var productID: UInt16
  /// Empty where the tracker has none: then the calibration is for all of its kind.
  public var serial: String
  public var name: String
  /// From the axes that the driver delivers to the head's.
  public var axes: AxisMap
  /// The axis of the tracker's reference frame that points up.
  public var up: SignedAxis
  /// rad/s, in the axes that the driver delivers; nil where the tracker tells no rates.
  public var gyroBias: SIMD3<Double>?
  /// Standard deviation of one sample, rad/s.
  public var gyroNoise: SIMD3<Double>?
  /// Standard deviation of one sample, m/s2.
  public var forceNoise: SIMD3<Double>?
  /// Samples a second.
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

  /// - Throws: what makes no sense in it.
  public func validate() throws(CalibrationError) {
    let largest = StillnessReport.largestBias * .pi / 180
    if let bias = gyroBias, !(bias.length <= largest) {
      let limit = Int(StillnessReport.largestBias)
      throw .badValue("the gyroscope's bias is beyond \(limit) degrees/s")
    }
    for (name, noise) in [("gyroscope", gyroNoise), ("accelerometer", forceNoise)] {
      guard let noise else { continue }
      guard noise.min() >= 0, noise.max() < 1000 else {
        throw .badValue("the \(name)'s noise is no size")
      }
    }
    guard rate > 0, rate <= 100_000 else { throw .badValue("the rate is no rate") }
  }

  /// - Throws: `otherTracker` unless it was made for this one.
  public func check(for tracker: TrackerDescription) throws(CalibrationError) {
    let isSame =
      vendorID == tracker.vendorID && productID == tracker.productID && serial == tracker.serial
    guard isSame else {
      throw .otherTracker(serial.isEmpty ? name : "\(name) with the serial number \(serial)")
    }
  }

  // MARK: Applying it

  /// The sample in the head's axes, and in a frame whose z is up, without the gyroscope's bias.
  public func applied(to sample: HeadSample) -> HeadSample {
    let map = axes.quaternion
    let level = Quaternion.shortest(from: axes.apply(up.direction), to: SignedAxis.z.direction)
    var sample = sample
    sample.headToWorld = (level * map * sample.headToWorld * map.conjugate).normalized
    if let rate = sample.angularVelocity, rate != .zero {
      sample.angularVelocity = axes.apply(rate - (gyroBias ?? .zero))
    }
    return sample
  }

  /// The raw sample in the head's axes. Its bias stays, for the filter to follow; seed that with
  /// `filterBias`.
  public func applied(to sample: InertialSample) -> InertialSample {
    InertialSample(
      time: sample.time, angularVelocity: axes.apply(sample.angularVelocity),
      specificForce: axes.apply(sample.specificForce),
      magneticField: sample.magneticField.map(axes.apply))
  }

  /// The gyroscope's bias in the head's axes, rad/s.
  public var filterBias: SIMD3<Double>? { gyroBias.map(axes.apply) }
}
