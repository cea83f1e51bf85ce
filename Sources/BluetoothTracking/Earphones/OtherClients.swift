// SPDX-License-Identifier: Apache-2.0

import System

/// Programs known to use the sensor channel of earphones.
enum OtherClients {
  /// Beginnings of the programs' names, which the kernel cuts to 15 characters.
  private static let names = [
    "GalaxyBudsClien", "librepods", "magicpods", "MagicPods", "kAirPods", "airpods_",
  ]

  /// The names of the running programs that begin with one of `names`; empty if /proc cannot be
  /// read.
  static var running: [String] {
    (SystemFile.names(in: "/proc") ?? []).compactMap { folder in
      guard Int(folder) != nil,
        let bytes = try? SystemFile.contents("/proc/\(folder)/comm", limit: 64)
      else { return nil }
      let name = String(decoding: bytes, as: UTF8.self).filter { $0 != "\n" }
      return names.contains(where: name.hasPrefix) ? name : nil
    }
  }
}
