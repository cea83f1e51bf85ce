// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import FoundationEssentials
import Geometry
import Glibc

/// `--keep-front`: the fronts of the trackers, kept in the user's state folder.
///
/// `$XDG_STATE_HOME/stillstage/fronts.json`, or in `~/.local/state`: an object with the trackers'
/// ids and degrees, the yaw of the front in the tracker's own world.
struct FrontStore {
  private let path: String?

  /// - Parameter isKept: false for one that neither reads nor writes.
  init(isKept: Bool) {
    path = isKept ? Self.folder.map { $0 + "/fronts.json" } : nil
  }

  private static var folder: String? {
    func variable(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    let state = variable("XDG_STATE_HOME") ?? variable("HOME").map { $0 + "/.local/state" }
    return state.map { $0 + "/stillstage" }
  }

  /// Radians by the trackers' ids; empty where nothing was kept, or nothing readable.
  func read() -> [String: Double] {
    guard let path, let data = try? Data(contentsOf: URL(filePath: path)) else { return [:] }
    let degrees = (try? JSONDecoder().decode([String: Double].self, from: data)) ?? [:]
    return degrees.mapValues { $0 / degreesPerRadian }
  }

  /// Keeps a tracker's front beside those of others. That it cannot is a note, not a failure.
  func keep(_ front: (tracker: String, yaw: Double)?) {
    guard let path, let front else { return }
    var all = read().mapValues { $0 * degreesPerRadian }
    all[front.tracker] = front.yaw * degreesPerRadian
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let url = URL(filePath: path)
    do {
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try encoder.encode(all).write(to: url, options: .atomic)
    } catch {
      printNote("the front cannot be kept in \(path): \(error)")
    }
  }
}
