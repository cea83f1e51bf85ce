// SPDX-License-Identifier: Apache-2.0

/// The sensor's biases from the calibration of XREAL glasses (`IMU.device_1` in a JSON text).
struct XREALCalibration: Sendable, Equatable {
  /// The gyroscope's bias, in rad/s, with the signs of the file.
  var gyroBias = SIMD3<Double>()
  /// The accelerometer's bias, in m/s2, with the signs of the file.
  var accelBias = SIMD3<Double>()

  init() {}

  /// Parses the text from the object `IMU` on, because the beginning of some texts is missing. A
  /// missing or invalid bias counts as zero.
  ///
  /// Returns nil if there is no valid object `IMU` that contains an object `device_1`, or if a bias
  /// is implausibly large.
  init?(_ text: [UInt8]) {
    guard let start = Self.object(named: "IMU", in: text) else { return nil }
    var parser = JSONText(text, at: start)
    guard case .object(let imu)? = parser.value(), case .object(let device)? = imu["device_1"]
    else { return nil }
    gyroBias = Self.vector(device["gyro_bias"]) ?? .zero
    accelBias = Self.vector(device["accel_bias"]) ?? .zero
    guard (gyroBias * gyroBias).sum() < 1, (accelBias * accelBias).sum() < 25 else { return nil }
  }

  private static func vector(_ value: JSONText.Value?) -> SIMD3<Double>? {
    guard case .array(let items)? = value, items.count == 3 else { return nil }
    var vector = SIMD3<Double>()
    for (index, item) in items.enumerated() {
      guard case .number(let number) = item, number.isFinite else { return nil }
      vector[index] = number
    }
    return vector
  }

  /// Returns the offset of the first object with the key `name`; nil if there is none.
  private static func object(named name: String, in text: [UInt8]) -> Int? {
    let key = Array("\"\(name)\"".utf8)
    guard text.count > key.count else { return nil }
    for start in 0..<text.count - key.count where text[start] == key[0] {
      guard text[start..<start + key.count].elementsEqual(key) else { continue }
      var at = start + key.count
      while at < text.count, text[at] != UInt8(ascii: "{") {
        guard [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ":")].contains(text[at]) else { break }
        at += 1
      }
      if at < text.count, text[at] == UInt8(ascii: "{") { return at }
    }
    return nil
  }
}
