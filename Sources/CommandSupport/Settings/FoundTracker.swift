// SPDX-License-Identifier: Apache-2.0

import BluetoothTracking
import CRealtime
import Glibc
package import HeadTracking

/// How long to search for a Bluetooth LE tracker [ns].
private let searchTime: Int64 = 10_000_000_000

/// Finds the tracker with an ID. If the ID is a Bluetooth address that BlueZ does not know, the
/// provider of Bluetooth LE trackers searches for it; this waits up to 10 s for the result.
///
/// - Throws: a failure if the tracker is not found or cannot be used; `interrupted` after a signal.
package func foundTracker(
  _ id: String, _ settings: TrackerSettings
) throws(CommandFailure) -> TrackerDescription {
  let lowEnergy = settings.providers.lazy.compactMap { $0 as? LowEnergyTrackers }.first
  let end = monotonic_nanoseconds() + searchTime
  var isAnnounced = false
  while true {
    let failure: HeadTrackingError
    do throws(HeadTrackingError) {
      let tracker = try TrackerList.current(settings).match(id)
      guard let error = tracker.accessError else { return tracker }
      failure = error
    } catch { failure = error }
    guard Signals.received == nil else { throw .interrupted }
    guard case .unknownTracker = failure, lowEnergy?.isSearching ?? false,
      monotonic_nanoseconds() < end
    else { throw CommandFailure(failure.description) }
    if !isAnnounced { printNote("searching for \(id) over Bluetooth for 10 s; wake the tracker") }
    isAnnounced = true
    usleep(100_000)
  }
}
