// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import Glibc

/// The files that completion offers: HRTF sets, and profiles of headphones.
enum CompletionValues {
  /// Returns the names, in alphabetical order; nil if another executable has to find the values.
  static func names(_ kind: MachineValues) -> [String]? {
    switch kind {
    case .trackers, .sinks: return nil
    case .hrtf: return names(in: data.map { "\($0)/HRTF" }, endings: [".sofa"], isShort: false)
    case .headphones:
      let config =
        variable("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
        ?? variable("HOME").map { "\($0)/.config" }
      let folders = [
        config.map { "\($0)/stillstage/headphones" },
        data.map { "\($0)/Calibration/headphones" },
      ]
      let found = folders.flatMap { names(in: $0, endings: [".json", ".txt"], isShort: true) }
      return Array(Set(found)).sorted()
    }
  }

  private static var data: String? {
    ProgramFiles.ofThisProcess?.dataFolder(
      option: nil, environment: variable("STILLSTAGE_DATA"))
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  /// Returns the names, in alphabetical order, of the files in a folder that have one of the
  /// endings. Leaves out hidden files.
  ///
  /// - Parameter isShort: whether to leave out the ending.
  private static func names(
    in folder: String?, endings: [String], isShort: Bool
  ) -> [String] {
    guard let folder, let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard !name.hasPrefix("."), let ending = endings.first(where: name.hasSuffix) else {
        continue
      }
      names.append(isShort ? String(name.dropLast(ending.count)) : name)
    }
    return names.sorted()
  }
}
