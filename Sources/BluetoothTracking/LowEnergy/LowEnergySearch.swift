// SPDX-License-Identifier: Apache-2.0

import CRealtime
import DBus
import Synchronization

/// Searches in the background for a Bluetooth LE tracker that is missing.
///
/// BlueZ forgets a device that is not paired about 30 s after it was last seen, so such a tracker
/// would not be found again without a search. A search also shows whether a tracker is in range,
/// before an attempt to connect blocks the adapter for seconds.
///
/// ## Threading
/// A search may be used from any thread.
final class LowEnergySearch: Sendable {
  /// The durations of a search and of the pause after it, in nanoseconds. The pauses leave radio
  /// time for Bluetooth headphones.
  private static let (searchTime, pauseTime): (Int64, Int64) = (10_000_000_000, 5_000_000_000)

  private let busAddress: String?
  private let state = Mutex(State())

  private struct State: @unchecked Sendable {
    /// The connection to the bus that started the search; nil if no search is in progress. BlueZ
    /// ends the search when the connection closes.
    var bus: Bus?
    /// When the search or the pause ends, in CLOCK_MONOTONIC nanoseconds.
    var end = Int64.min
  }

  /// - Parameter busAddress: the address of the D-Bus system bus; nil for the usual address.
  init(busAddress: String?) { self.busAddress = busAddress }

  var isActive: Bool { state.withLock { $0.bus != nil } }

  /// Starts a search, or ends the current one when `searchTime` is over. Call this function
  /// repeatedly while the tracker is missing, so that searches and pauses alternate.
  ///
  /// If a search cannot be started, a pause begins instead. For example, Bluetooth may be off.
  func advance(with adapters: [BlueZObjects.Adapter]) {
    state.withLock { state in
      let now = monotonic_nanoseconds()
      guard now >= state.end else { return }
      guard state.bus == nil else {
        (state.bus, state.end) = (nil, now + Self.pauseTime)
        return
      }
      state.bus = start(adapters)
      state.end = now + (state.bus == nil ? Self.pauseTime : Self.searchTime)
    }
  }

  private func start(_ adapters: [BlueZObjects.Adapter]) -> Bus? {
    let powered = adapters.filter(\.isPowered)
    guard !powered.isEmpty, let bus = try? Bus(address: busAddress) else { return nil }
    let started = powered.filter { (try? bus.startLowEnergyDiscovery($0.path)) != nil }
    return started.isEmpty ? nil : bus
  }

  /// Ends the search. The next call of `advance` starts a new one at once.
  func stop() { state.withLock { $0 = State() } }
}
