// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import FoundationEssentials
import Geometry
import UserFiles

/// Stores the trackers' fronts in `fronts.json` in the user's state folder.
///
/// The file maps each tracker's ID to the yaw of the front in the tracker's world frame, in
/// degrees.
struct FrontStore {
  private let path: String?

  /// Creates a store. If `isKept` is false or there is no state folder, the store neither reads nor
  /// writes.
  init(isKept: Bool) {
    path = isKept ? StateFolder.path.map { $0 + "/fronts.json" } : nil
  }

  /// Returns the yaw of each tracker's front, in radians; empty if there is no valid file.
  func read() -> [String: Double] {
    guard let path, let data = try? Data(contentsOf: URL(filePath: path)) else { return [:] }
    let degrees = (try? JSONDecoder().decode([String: Double].self, from: data)) ?? [:]
    return degrees.mapValues { $0 / degreesPerRadian }
  }

  /// Stores a tracker's front and keeps the fronts of other trackers. `yaw` is in radians. Does
  /// nothing for nil.
  func keep(_ front: (tracker: String, yaw: Double)?) {
    guard let path, let front else { return }
    var all = read().mapValues { $0 * degreesPerRadian }
    all[front.tracker] = front.yaw * degreesPerRadian
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(all) else { return }
    do throws(CommandFailure) {
      try makeFolders(path)
      try TextOutput(path: path).write(String(decoding: data, as: UTF8.self))
    } catch { printNote("cannot save the front: \(error.message ?? path)") }
  }
}
