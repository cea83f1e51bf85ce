// SPDX-License-Identifier: Apache-2.0

import CRealtime
import DBus
import Glibc

/// A search for Bluetooth LE devices that are not known yet.
package enum LowEnergyScan {
  /// Searches with all adapters that are on. By default, BlueZ keeps the found devices in its list
  /// for at least 30 s.
  ///
  /// - Parameters:
  ///   - seconds: the duration of the search.
  ///   - busAddress: the address of the D-Bus system bus; nil for the usual address.
  ///   - isCancelled: called repeatedly; returns whether to end the search early.
  /// - Returns: why no search was possible, on one line; nil after a search.
  package static func run(
    seconds: Double, busAddress: String? = nil, isCancelled: () -> Bool
  ) -> String? {
    do throws(BusError) {
      // BlueZ ends the search when this connection to the bus closes.
      let bus = try Bus(address: busAddress)
      let adapters = try bus.bluetoothObjects().adapters
      guard !adapters.isEmpty else { return "this computer has no Bluetooth adapter; connect one" }
      let powered = adapters.filter(\.isPowered)
      guard !powered.isEmpty else { return "Bluetooth is off; switch it on" }
      for adapter in powered { try bus.startLowEnergyDiscovery(adapter.path) }
      let end = monotonic_nanoseconds() + Int64(seconds * 1e9)
      while monotonic_nanoseconds() < end, !isCancelled() { usleep(20_000) }
      for adapter in powered {
        _ = try? bus.call(Bus.bluez(adapter.path, "Adapter1", "StopDiscovery"))
      }
      return nil
    } catch {
      return error.bluetoothReason
    }
  }
}

extension Bus {
  /// Makes an adapter search for Bluetooth LE devices until this connection to the bus closes.
  func startLowEnergyDiscovery(_ adapter: String) throws(BusError) {
    try call(Bus.bluez(adapter, "Adapter1", "SetDiscoveryFilter")) {
      $0.append([("Transport", .text("le"))])
    }
    do throws(BusError) {
      try call(Bus.bluez(adapter, "Adapter1", "StartDiscovery"))
    } catch {
      // If another program is searching already, its search finds the devices.
      guard error.name == "org.bluez.Error.InProgress" else { throw error }
    }
  }
}
