// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import FoundationEssentials
import Geometry
import UserFiles

/// Implements `--keep-front`: stores the trackers' fronts in the user's state folder.
///
/// The file is `$XDG_STATE_HOME/stillstage/fronts.json`, with `~/.local/state` as the default state
/// folder. The file is a JSON object that maps each tracker's ID to the yaw of the front in the
/// tracker's own world frame, in degrees.
struct FrontStore {
  private let path: String?

  /// Creates a store in the user's state folder.
  ///
  /// - Parameter isKept: false for a store that neither reads nor writes.
  init(isKept: Bool) {
    path = isKept ? StateFolder.path.map { $0 + "/fronts.json" } : nil
  }

  /// Returns the yaw of each tracker's front, in radians, by the tracker's ID. Empty if fronts are
  /// not kept, or if the file is missing or invalid.
  func read() -> [String: Double] {
    guard let path, let data = try? Data(contentsOf: URL(filePath: path)) else { return [:] }
    let degrees = (try? JSONDecoder().decode([String: Double].self, from: data)) ?? [:]
    return degrees.mapValues { $0 / degreesPerRadian }
  }

  /// Stores a tracker's front (`yaw` in radians) and keeps the fronts of other trackers. A write
  /// error causes only a note.
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
    } catch { printNote("the front is not saved: \(error.message ?? path)") }
  }
}
