// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import CommandSupport
import HeadTracking
import UserFiles

func trackersCheckCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let path = command[Arguments.trackerProfile]
  let (profile, problems) = TrackerProfileFile.read(path)
  for problem in problems {
    let place = problem.line.map { "\(path):\($0)" } ?? path
    printError("\(place): \(problem.text)".withoutControls)
  }
  guard let profile, problems.isEmpty else { throw .reported }
  let signals = TrackerProfile.Signal.allCases.filter { profile.signals[$0] != nil }
  try printOutput(
    "\(path): valid profile '\(profile.name)', link \(profile.link.name), signals "
      .withoutControls + signals.map(\.rawValue).joined(separator: ", ") + "\n")
}
