// SPDX-License-Identifier: Apache-2.0

package import HeadTracking
package import UserFiles

extension TrackerProfileFile {
  /// Returns a tracker profile.
  ///
  /// - Parameters:
  ///   - name: the name of a profile, or the path of a file.
  ///   - profiles: the profiles to search for the name.
  /// - Throws: a failure if there is no profile with this name, or if the file is invalid.
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
