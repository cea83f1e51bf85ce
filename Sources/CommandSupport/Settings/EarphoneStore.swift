// SPDX-License-Identifier: Apache-2.0

import BluetoothTracking
import FoundationEssentials
import Geometry
import Synchronization
import UserFiles

/// Stores the `mounting`, the `service` and the `firmware` of each `EarphoneMemory`, by Bluetooth
/// address. The file is `earphones.json` in the user's state folder.
final class EarphoneStore: Sendable {
  private let path: String?
  private let writing = Mutex(())

  private struct Entry: Codable {
    /// The components w, x, y, z of a unit quaternion.
    var mounting: [Double]?
    var service: UInt64?
    var firmware: String?
  }

  init() { path = StateFolder.path.map { $0 + "/earphones.json" } }

  /// Returns what is stored for an address; nil if nothing is stored, or if the file is invalid or
  /// cannot be read.
  func recall(_ address: String) -> EarphoneMemory? {
    guard let entry = read()[address] else { return nil }
    var memory = EarphoneMemory(service: entry.service, firmware: entry.firmware ?? "")
    if let m = entry.mounting, m.count == 4 {
      let turn = Quaternion(w: m[0], x: m[1], y: m[2], z: m[3])
      if abs(turn.squaredNorm - 1) < 0.02 { memory.mounting = turn.normalized }
    }
    return memory
  }

  /// Replaces what is stored for an address. Errors are ignored.
  func remember(_ address: String, _ memory: EarphoneMemory) {
    guard let path else { return }
    writing.withLock { _ in
      var all = read()
      all[address] = Entry(
        mounting: memory.mounting.map { [$0.w, $0.x, $0.y, $0.z] }, service: memory.service,
        firmware: memory.firmware)
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      let url = URL(filePath: path)
      try? FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try? encoder.encode(all).write(to: url, options: .atomic)
    }
  }

  private func read() -> [String: Entry] {
    guard let path, let data = try? Data(contentsOf: URL(filePath: path)) else { return [:] }
    return (try? JSONDecoder().decode([String: Entry].self, from: data)) ?? [:]
  }
}
