// SPDX-License-Identifier: Apache-2.0

import Glibc

struct BenchMachine: Codable {
  var processor: String
  var cores: Int
  /// Load average of the last minute.
  var load: Double

  static var current: BenchMachine {
    var loads = [0.0, 0, 0]
    getloadavg(&loads, 3)
    return BenchMachine(
      processor: processorName ?? "unknown", cores: sysconf(Int32(_SC_NPROCESSORS_ONLN)),
      load: loads[0])
  }

  private static var processorName: String? {
    guard let file = fopen("/proc/cpuinfo", "r") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 512)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(
        decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init), as: UTF8.self)
      guard text.hasPrefix("model name"), let colon = text.firstIndex(of: ":") else { continue }
      return String(text[text.index(after: colon)...].drop { $0 == " " })
    }
    return nil
  }
}
