// SPDX-License-Identifier: Apache-2.0

import Glibc
package import HeadTracking
import System
import UserFiles

/// The files with tracker profiles [docs/tracker-profiles.md].
package enum TrackerProfileFile {
  /// Reads a file and returns its profile, nil if it cannot be used, and what is wrong with it.
  package static func read(
    _ path: String
  ) -> (profile: TrackerProfile?, problems: [ProfileProblem]) {
    let limit = ProfileReader.largestFile
    do throws(SystemError) {
      return ProfileReader.read(try SystemFile.contents(path, limit: limit + 1))
    } catch { return (nil, [ProfileProblem(line: 1, text: "it cannot be read: \(error)")]) }
  }

  /// Reads the profiles in the user's folder, then those in the data folder, in the order of their
  /// file names. Skips invalid profiles with a note.
  package static func all(dataFolder: String?) -> [TrackerProfile] {
    let folders = [
      UserFolder.ofThisProcess?.trackerProfilePath, dataFolder.map { $0 + "/Calibration/trackers" },
    ]
    return folders.compactMap(\.self).flatMap(profiles)
  }

  private static func profiles(in folder: String) -> [TrackerProfile] {
    var profiles: [TrackerProfile] = []
    for name in SystemFile.names(in: folder)?.sorted() ?? [] where name.hasSuffix(".json") {
      let path = "\(folder)/\(name)"
      let (profile, problems) = read(path)
      if let profile {
        profiles.append(profile)
      } else if let problem = problems.first(where: { !$0.isHarmless }) {
        printNote(
          "the tracker profile \(path) is not used: line \(problem.line): \(problem.text)")
      }
    }
    return profiles
  }

  /// Returns the profile with a name, or in a file.
  ///
  /// - Throws: a failure if there is no such profile, or if the file is invalid.
  package static func named(
    _ name: String, among profiles: [TrackerProfile]
  ) throws(CommandFailure) -> TrackerProfile {
    if name.hasSuffix(".json") || name.contains("/") {
      let (profile, problems) = read(name)
      if let profile { return profile }
      let problem = problems.first { !$0.isHarmless }
      throw CommandFailure(
        "cannot use the tracker profile \(name): line \(problem?.line ?? 1): \(problem?.text ?? "")"
      )
    }
    if let profile = profiles.first(where: { $0.name == name }) { return profile }
    let known = profiles.map(\.name).joined(separator: ", ")
    throw .usage("there is no tracker profile '\(name)'; give a file, or one of: \(known)")
  }
}
