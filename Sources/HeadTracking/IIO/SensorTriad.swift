// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A three-axis sensor of an industrial I/O device, read from files such as `in_anglvel_x_raw`.
///
/// The units are rad/s, m/s2 and gauss (Documentation/ABI/testing/sysfs-bus-iio). A value is
/// `(raw + offset) * scale`. If there is a valid mounting matrix, it is applied to the vector.
struct SensorTriad {
  private let files: [SensorFile]
  private let scales: SIMD3<Double>
  private let offsets: SIMD3<Double>
  /// The rows of the mounting matrix.
  private let mounting: [SIMD3<Double>]

  /// Opens the files of the three axes; nil if one cannot be opened. `kind` is `anglvel`, `accel`
  /// or `magn`.
  init?(folder: String, kind: String) {
    var files: [SensorFile] = []
    var scales = SIMD3<Double>()
    var offsets = SIMD3<Double>()
    for (index, axis) in ["x", "y", "z"].enumerated() {
      let name = "\(folder)/in_\(kind)"
      guard let file = SensorFile("\(name)_\(axis)_raw") else { return nil }
      files.append(file)
      scales[index] =
        SensorFile.number("\(name)_\(axis)_scale") ?? SensorFile.number("\(name)_scale") ?? 1
      offsets[index] =
        SensorFile.number("\(name)_\(axis)_offset") ?? SensorFile.number("\(name)_offset") ?? 0
    }
    self.files = files
    self.scales = scales
    self.offsets = offsets
    let names = ["in_\(kind)_mount_matrix", "in_mount_matrix", "mount_matrix"]
    mounting =
      names.lazy.compactMap { SensorFile.text("\(folder)/\($0)") }
      .compactMap(Self.matrix).first ?? [SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1)]
  }

  /// The current values of the three axes; nil if an axis cannot be read.
  var vector: SIMD3<Double>? {
    var raw = SIMD3<Double>()
    for index in 0..<3 {
      guard let number = files[index].number else { return nil }
      raw[index] = number
    }
    let v = (raw + offsets) * scales
    return SIMD3((mounting[0] * v).sum(), (mounting[1] * v).sum(), (mounting[2] * v).sum())
  }

  /// Parses a matrix such as `a, b, c; d, e, f; g, h, i` into its rows. Returns nil unless it has
  /// 3 x 3 numbers and a determinant near 1.
  static func matrix(_ text: String) -> [SIMD3<Double>]? {
    let rows = text.split(separator: ";").map { row in
      row.split(separator: ",").compactMap { Double(String($0).trimmingBlanks) }
    }
    guard rows.count == 3, rows.allSatisfy({ $0.count == 3 }) else { return nil }
    let m = rows.map { SIMD3($0[0], $0[1], $0[2]) }
    let c = SIMD3(
      m[1].y * m[2].z - m[1].z * m[2].y, m[1].z * m[2].x - m[1].x * m[2].z,
      m[1].x * m[2].y - m[1].y * m[2].x)
    let determinant = (m[0] * c).sum()
    return abs(determinant - 1) < 0.05 ? m : nil
  }
}

/// An open sysfs file of a kernel sensor.
final class SensorFile {
  private let descriptor: Int32

  init?(_ path: String) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
  }

  deinit { close(descriptor) }

  /// The current contents (at most 256 bytes), trimmed; nil if the file is empty or unreadable.
  var text: String? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { return nil }
    return String(decoding: bytes.prefix(count), as: UTF8.self).trimmingBlanks
  }

  var number: Double? { text.flatMap(Double.init).flatMap { $0.isFinite ? $0 : nil } }

  static func text(_ path: String) -> String? { SensorFile(path)?.text }
  static func number(_ path: String) -> Double? { SensorFile(path)?.number }
}
