// SPDX-License-Identifier: Apache-2.0

package import HeadTracking
package import UserFiles

extension TrackerProfileFile {
  /// Returns the tracker profile that the user has given by its name or as a file.
  ///
  /// - Parameters:
  ///   - name: the name of a profile. If it ends in `.json` or contains a slash, it is the path of
  ///     a file.
  ///   - profiles: the profiles to search for the name.
  /// - Throws: a usage error if no profile has this name; a failure if the file cannot be read or
  ///   is invalid.
  package static func named(
    _ name: String, among profiles: [TrackerProfile]
  ) throws(CommandFailure) -> TrackerProfile {
    if name.hasSuffix(".json") || name.contains("/") {
      let (profile, problems) = read(name)
      if let profile { return profile }
      let problem = problems.first { !$0.isHarmless }
      let place = problem?.line.map { "line \($0): " } ?? ""
      throw CommandFailure(
        "cannot use the tracker profile \(name): \(place)\(problem?.text ?? "")")
    }
    if let profile = profiles.first(where: { $0.name == name }) { return profile }
    let known = profiles.map(\.name).joined(separator: ", ")
    throw .usage("there is no tracker profile '\(name)'; give a .json file, or one of: \(known)")
  }
}
