// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Geometry
public import HeadTracking

/// Reads and formats tracker calibrations. Each tracker has its own JSON file.
public enum CalibrationFile {
  /// Returns the path of a tracker's calibration file, which need not exist. The file is named
  /// after the tracker's vendor ID, product ID and serial number.
  public static func path(for tracker: TrackerDescription, in folder: UserFolder) -> String {
    let parts = [hex(tracker.vendorID), hex(tracker.productID), tracker.serial]
    let name = parts.filter { !$0.isEmpty }.joined(separator: "-")
    // A serial number may contain any character, including a slash.
    let safe = name.unicodeScalars.map { scalar in
      let isPlain =
        scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
      return isPlain || "-_.".unicodeScalars.contains(scalar) ? Character(scalar) : "_"
    }
    return "\(folder.path)/trackers/\(String(safe.prefix(120))).json"
  }

  /// Returns a tracker's calibration; nil if there is no file.
  ///
  /// - Throws: `UserFileError` if the file cannot be read, is invalid, has another version of the
  ///   format, or belongs to another tracker.
  public static func read(
    for tracker: TrackerDescription, in folder: UserFolder
  ) throws(UserFileError) -> TrackerCalibration? {
    let path = path(for: tracker, in: folder)
    guard let bytes = try UserFolder.read(path) else { return nil }
    let calibration = try parse(bytes, path: path)
    do throws(CalibrationError) {
      try calibration.check(for: tracker)
    } catch { throw UserFileError(path: path, reason: error.description) }
    return calibration
  }

  static func parse(_ bytes: [UInt8], path: String) throws(UserFileError) -> TrackerCalibration {
    // Check the version first: another version may have other keys.
    let version = try JSONFile.decode(Version.self, bytes, path: path).version
    do throws(CalibrationError) {
      guard version == TrackerCalibration.currentVersion else {
        throw .wrongVersion(version, expected: TrackerCalibration.currentVersion)
      }
    } catch { throw UserFileError(path: path, reason: error.description) }
    let contents = try JSONFile.decode(Contents.self, bytes, path: path)
    do throws(CalibrationError) {
      let calibration = try contents.calibration()
      try calibration.validate()
      return calibration
    } catch { throw UserFileError(path: path, reason: error.description) }
  }

  /// Returns a calibration as JSON.
  public static func text(of calibration: TrackerCalibration) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    // Encoding cannot fail, because valid values are finite.
    let data = (try? encoder.encode(Contents(calibration))) ?? Data()
    return String(decoding: data, as: UTF8.self) + "\n"
  }

  private static func hex(_ number: UInt16) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }
}

private struct Version: Decodable {
  let version: Int
}

/// The contents of a calibration file, as defined in `Calibration/calibration.schema.json`.
private struct Contents: Codable {
  struct Tracker: Codable {
    let vendorID: Int
    let productID: Int
    let serial: String
    let name: String
  }

  struct Mounting: Codable {
    /// The components w, x, y, z of a unit quaternion.
    let rotation: [Double]
    let components: String
    let isInverse: Bool
    let isUpsideDown: Bool
  }

  let version: Int
  let tracker: Tracker
  let axes: String
  let up: String
  let gyroBiasDegreesPerSecond: [Double]?
  let gyroNoiseDegreesPerSecond: [Double]?
  let accelerometerNoise: [Double]?
  let rateHertz: Double
  let mounting: Mounting?

  init(_ calibration: TrackerCalibration) {
    let degrees = 180 / Double.pi
    version = TrackerCalibration.currentVersion
    tracker = Tracker(
      vendorID: Int(calibration.vendorID), productID: Int(calibration.productID),
      serial: calibration.serial, name: calibration.name)
    axes = calibration.axes.text
    up = calibration.up.text
    gyroBiasDegreesPerSecond = calibration.gyroBias.map { Self.list($0 * degrees) }
    gyroNoiseDegreesPerSecond = calibration.gyroNoise.map { Self.list($0 * degrees) }
    accelerometerNoise = calibration.forceNoise.map(Self.list)
    rateHertz = Self.rounded(calibration.rate)
    mounting = calibration.mounting.map { mounting in
      let q = mounting.rotation
      return Mounting(
        rotation: [q.w, q.x, q.y, q.z].map(Self.rounded),
        components: mounting.components.rawValue, isInverse: mounting.isInverse,
        isUpsideDown: mounting.isUpsideDown)
    }
  }

  func calibration() throws(CalibrationError) -> TrackerCalibration {
    let radians = Double.pi / 180
    let map: AxisMap
    do throws(HeadTrackingError) { map = try AxisMap(axes) } catch {
      throw .badValue("'axes' must be a right-handed axis map such as y,-x,z")
    }
    guard let vendorID = UInt16(exactly: tracker.vendorID),
      let productID = UInt16(exactly: tracker.productID)
    else { throw .badValue("'tracker' must have a vendorID and a productID from 0 to 65535") }
    guard let upward = SignedAxis(up) else {
      throw .badValue("'up' must be an axis such as z or -x")
    }
    var calibration = TrackerCalibration(
      vendorID: vendorID, productID: productID, serial: tracker.serial,
      name: tracker.name, axes: map, up: upward,
      gyroBias: try vector(gyroBiasDegreesPerSecond, "gyroBiasDegreesPerSecond", radians),
      gyroNoise: try vector(gyroNoiseDegreesPerSecond, "gyroNoiseDegreesPerSecond", radians),
      forceNoise: try vector(accelerometerNoise, "accelerometerNoise", 1), rate: rateHertz)
    calibration.mounting = try trackerMounting()
    return calibration
  }

  private func trackerMounting() throws(CalibrationError) -> TrackerMounting? {
    guard let mounting else { return nil }
    let q = mounting.rotation
    guard q.count == 4, abs(q.reduce(0) { $0 + $1 * $1 } - 1) < 0.001 else {
      throw .badValue("'mounting.rotation' must be a unit quaternion w, x, y, z")
    }
    guard let components = TrackerMounting.Components(rawValue: mounting.components) else {
      throw .badValue("'mounting.components' must be xyzw or wxyz")
    }
    return TrackerMounting(
      rotation: Quaternion(w: q[0], x: q[1], y: q[2], z: q[3]).normalized, components: components,
      isInverse: mounting.isInverse, isUpsideDown: mounting.isUpsideDown)
  }

  private func vector(
    _ list: [Double]?, _ name: String, _ unit: Double
  ) throws(CalibrationError) -> SIMD3<Double>? {
    guard let list else { return nil }
    guard list.count == 3 else { throw .badValue("'\(name)' must be a list of three numbers") }
    return SIMD3(list[0], list[1], list[2]) * unit
  }

  private static func list(_ v: SIMD3<Double>) -> [Double] {
    [rounded(v.x), rounded(v.y), rounded(v.z)]
  }

  /// Rounds to six decimal places; further digits are noise.
  private static func rounded(_ value: Double) -> Double { (value * 1e6).rounded() / 1e6 }
}
