// SPDX-License-Identifier: Apache-2.0

package import HeadTracking
import System

/// The files with tracker profiles [docs/tracker-profiles.md].
package enum TrackerProfileFile {
  /// Reads a file. Returns its profile (nil if the file cannot be used) and what is wrong with the
  /// file.
  package static func read(
    _ path: String
  ) -> (profile: TrackerProfile?, problems: [ProfileProblem]) {
    let limit = ProfileReader.largestFile
    do throws(SystemError) {
      return ProfileReader.read(try SystemFile.contents(path, limit: limit + 1))
    } catch { return (nil, [ProfileProblem(line: nil, text: "it cannot be read: \(error)")]) }
  }

  /// Reads the `.json` files in the user's folder of tracker profiles, then those in
  /// `Calibration/trackers` in the data folder. Each folder is read in the order of the file names.
  /// Skips files that cannot be used.
  ///
  /// - Parameters:
  ///   - dataFolder: the program's data folder; nil to read only the user's folder.
  ///   - note: receives a message about each skipped file.
  package static func all(
    dataFolder: String?, note: (String) -> Void = { _ in }
  ) -> [TrackerProfile] {
    let folders = [
      UserFolder.ofThisProcess?.trackerProfilePath, dataFolder.map { $0 + "/Calibration/trackers" },
    ]
    return folders.compactMap(\.self).flatMap { profiles(in: $0, note: note) }
  }

  private static func profiles(in folder: String, note: (String) -> Void) -> [TrackerProfile] {
    var profiles: [TrackerProfile] = []
    for name in SystemFile.names(in: folder)?.sorted() ?? [] where name.hasSuffix(".json") {
      let path = "\(folder)/\(name)"
      let (profile, problems) = read(path)
      if let profile {
        profiles.append(profile)
      } else if let problem = problems.first(where: { !$0.isHarmless }) {
        let place = problem.line.map { "line \($0): " } ?? ""
        note("cannot use the tracker profile \(path): \(place)\(problem.text)")
      }
    }
    return profiles
  }
}
