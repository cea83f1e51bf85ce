// SPDX-License-Identifier: Apache-2.0

import BluetoothTracking
import CRealtime
import Glibc
package import HeadTracking

/// How long to search for a Bluetooth LE tracker, in nanoseconds.
private let searchTime: Int64 = 10_000_000_000

/// Finds the tracker with an ID, and checks that it can be opened; see `matchedTracker`.
///
/// - Throws: the failures of `matchedTracker`, and one if the tracker cannot be opened.
package func foundTracker(
  _ id: String, _ settings: TrackerSettings
) throws(CommandFailure) -> TrackerDescription {
  let tracker = try matchedTracker(id, settings)
  guard let error = tracker.accessError else { return tracker }
  throw Signals.received == nil ? CommandFailure(error.description) : .interrupted
}

/// Finds the tracker with an ID. If the ID is a Bluetooth address that BlueZ does not know, waits
/// up to 10 s while the provider of Bluetooth LE trackers searches for the tracker.
///
/// - Throws: a failure if not exactly one tracker matches; `interrupted` after a signal.
package func matchedTracker(
  _ id: String, _ settings: TrackerSettings
) throws(CommandFailure) -> TrackerDescription {
  let lowEnergy = settings.providers.lazy.compactMap { $0 as? LowEnergyTrackers }.first
  let end = monotonic_nanoseconds() + searchTime
  var isAnnounced = false
  while true {
    let failure: HeadTrackingError
    do throws(HeadTrackingError) { return try TrackerList.current(settings).match(id) } catch {
      failure = error
    }
    guard Signals.received == nil else { throw .interrupted }
    guard case .unknownTracker = failure, lowEnergy?.isSearching ?? false,
      monotonic_nanoseconds() < end
    else { throw CommandFailure(failure.description) }
    if !isAnnounced {
      printNote("searching for \(id) over Bluetooth for up to 10 s; wake the tracker")
    }
    isAnnounced = true
    usleep(100_000)
  }
}
