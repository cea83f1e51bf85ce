// SPDX-License-Identifier: Apache-2.0

import CDBus
import CRealtime
import DBus
import Synchronization

/// Keeps a list of BlueZ's objects. It asks BlueZ for the list again only after a D-Bus signal
/// about a change, after a failure or a lost connection, or if the caller demands it.
///
/// ## Threading
/// A watch may be used from any thread.
final class BlueZWatch: Sendable {
  private let address: String?
  private let state = Mutex(State())

  fileprivate struct State: ~Copyable, @unchecked Sendable {
    var bus: Bus?
    var slots: [OpaquePointer?] = []
    var changes: UnsafeMutablePointer<Int>?
    var objects = BlueZObjects()
    var failure: BusError?
    /// The time from which BlueZ may be asked again after a failure, in CLOCK_MONOTONIC
    /// nanoseconds.
    var retryAt = Int64.min

    deinit { close(slots, changes) }
  }

  /// How long BlueZ is not asked again after a failure, in nanoseconds, unless a signal arrives,
  /// the connection is lost or the caller demands it.
  fileprivate static let absence: Int64 = 10_000_000_000
  /// The match rules of the signals after which the list may be outdated.
  fileprivate static let rules = [
    "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.ObjectManager'",
    "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.Properties',"
      + "arg0='org.bluez.Device1'",
    "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.Properties',"
      + "arg0='org.bluez.Adapter1'",
    "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.bluez'",
  ]

  /// - Parameter address: the address of the D-Bus system bus; nil for the usual address.
  init(address: String?) { self.address = address }

  /// Returns BlueZ's current objects.
  ///
  /// - Parameter isFresh: whether to ask BlueZ even without a signal.
  /// - Throws: an error from the bus, for example if bluetoothd is not running. For 10 s after an
  ///   error, the same error is thrown without another attempt, unless `isFresh` is true, a
  ///   signal arrives or the connection is lost.
  func objects(isFresh: Bool = false) throws(BusError) -> BlueZObjects {
    let result = state.withLock { state in
      Result { () throws(BusError) in try state.current(address, isFresh: isFresh) }
    }
    return try result.get()
  }

  /// Counts a signal in the integer to which `context` points.
  fileprivate static let count: bus_handler = { _, context, _ in
    context?.assumingMemoryBound(to: Int.self).pointee += 1
    return 0
  }

  fileprivate static func close(_ slots: [OpaquePointer?], _ changes: UnsafeMutablePointer<Int>?) {
    for slot in slots { bus_cancel(slot) }
    changes?.deallocate()
  }
}

extension BlueZWatch.State {
  fileprivate mutating func current(
    _ address: String?, isFresh: Bool
  ) throws(BusError) -> BlueZObjects {
    let now = monotonic_nanoseconds()
    let hasChanged = process()
    if let failure, !isFresh, !hasChanged, now < retryAt { throw failure }
    do throws(BusError) {
      let isNew = bus == nil
      if isNew { try connect(address) }
      if isNew || isFresh || hasChanged || failure != nil, let bus {
        objects = try bus.bluetoothObjects()
      }
      failure = nil
      return objects
    } catch {
      failure = error
      retryAt = now + BlueZWatch.absence
      throw error
    }
  }

  /// Handles the queued messages. Returns whether a change was signalled or the connection was
  /// lost.
  private mutating func process() -> Bool {
    guard let bus, let changes else { return false }
    let before = changes.pointee
    while true {
      let progress = bus_process(bus.bus, nil)
      if progress == 0 { return changes.pointee != before }
      if progress < 0 {
        disconnect()
        return true
      }
    }
  }

  private mutating func connect(_ address: String?) throws(BusError) {
    let bus = try Bus(address: address)
    let changes = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    changes.initialize(to: 0)
    (self.bus, self.changes) = (bus, changes)
    for rule in BlueZWatch.rules {
      var slot: OpaquePointer?
      let result = bus_add_match(bus.bus, &slot, rule, BlueZWatch.count, changes)
      guard result >= 0 else {
        disconnect()
        throw BusError(number: -result)
      }
      slots.append(slot)
    }
  }

  private mutating func disconnect() {
    BlueZWatch.close(slots, changes)
    (slots, changes, bus) = ([], nil, nil)
  }
}
