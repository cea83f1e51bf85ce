// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file of the kernel's sensors that says something new each time it is read.
final class SensorFile {
  private let descriptor: Int32

  /// Nil where there is no such file, or it may not be read.
  init?(_ path: String) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
  }

  deinit { close(descriptor) }

  /// What it says now, or nil where the sensor is gone.
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
