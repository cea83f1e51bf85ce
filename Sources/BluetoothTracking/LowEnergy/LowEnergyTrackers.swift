// SPDX-License-Identifier: Apache-2.0

import CRealtime
import DBus
import Glibc
package import HeadTracking
import Synchronization

/// Provides the Bluetooth LE trackers that BlueZ knows, whether or not they are connected.
///
/// `trackers` also searches for one tracker: the one that `connect` last tried to open or, before
/// that, the one that the user named. It searches while BlueZ does not know this tracker and, after
/// a failure or a lost link, until the tracker is in range or connected.
///
/// If necessary, opening a tracker connects it, and releasing the connection disconnects it again.
/// No trackers are found if D-Bus, BlueZ or Bluetooth is missing.
package final class LowEnergyTrackers: TrackerProvider {
  private let busAddress: String?
  private let axes: AxisMap?
  private let profiles: [LowEnergyModel]
  private let capture: FrameCapture?
  private let watch: BlueZWatch
  private let retries = Mutex<[String: Retry]>([:])
  private let search: LowEnergySearch
  /// The address of the tracker to search for; nil if there is none.
  private let wanted: Mutex<String?>

  /// When a tracker may be opened again after a failure or a lost link. Times are CLOCK_MONOTONIC,
  /// in nanoseconds.
  private struct Retry {
    var failures = 0
    /// When the latest link was opened; `Int64.min` if there was none.
    var opened = Int64.min
    /// When the tracker may be opened again if it is in range or connected.
    var next = Int64.min
    /// When the tracker may be opened again if the search has not found it. A paired tracker may
    /// ask this computer for a connection in a way that a search does not show.
    var nextUnseen = Int64.min
    /// The latest error in opening the tracker; nil if there was none or a link was lost later.
    var error: HeadTrackingError?

    /// Whether the tracker may not be opened yet. `device` is nil if BlueZ does not know it.
    func waits(for device: BluetoothDevice?) -> Bool {
      let isPresent = device.map { $0.isConnected || $0.isInRange } ?? false
      return monotonic_nanoseconds() < (isPresent ? next : nextUnseen)
    }
  }

  /// The prefix of a tracker's path. The Bluetooth address follows it.
  private static let pathPrefix = "bluetooth:"
  /// Once a link has lasted longer than this, in nanoseconds, earlier failures no longer count.
  private static let steadyLink: Int64 = 20_000_000_000
  /// The time from a failure or a lost link to the next attempt, in nanoseconds, if the search has
  /// not found the tracker.
  private static let unseenTime: Int64 = 20_000_000_000

  /// - Parameters:
  ///   - axes: how the tracker is mounted on the head; nil for the usual mounting. Ignored for a
  ///     Waves Nx tracker.
  ///   - profiles: profiles of trackers. Those whose link is not Bluetooth LE are ignored.
  ///   - capture: records the packets of the tracker that is opened; nil to record none.
  ///   - wanted: the ID of the tracker that the user named. It is searched for if it is a Bluetooth
  ///     address.
  ///   - busAddress: the address of the D-Bus system bus; nil for the usual address.
  package init(
    axes: AxisMap? = nil, profiles: [TrackerProfile] = [], capture: FrameCapture? = nil,
    wanted: String? = nil, busAddress: String? = nil
  ) {
    self.wanted = Mutex(wanted.flatMap { $0.isBluetoothAddress ? $0.uppercased() : nil })
    search = LowEnergySearch(busAddress: busAddress)
    (self.axes, self.busAddress, self.capture) = (axes, busAddress, capture)
    self.profiles = profiles.compactMap(LowEnergyModel.init)
    watch = BlueZWatch(address: busAddress)
  }

  /// Whether a search for a tracker is in progress.
  package var isSearching: Bool { search.isActive }

  // MARK: List

  package func trackers(detailed: Bool) -> [TrackerDescription] {
    guard let objects = try? watch.objects(isFresh: detailed) else { return [] }
    let retries = retries.withLock { $0 }
    searchIfMissing(objects, retries)
    return objects.devices.compactMap { device in
      guard let model = LowEnergyModel.find(device, profiles) else { return nil }
      if let retry = retries[device.address], retry.error == nil, retry.waits(for: device) {
        return nil
      }
      return Self.description(device, model)
    }
  }

  private func searchIfMissing(_ objects: BlueZObjects, _ retries: [String: Retry]) {
    guard let wanted = wanted.withLock({ $0 }) else { return }
    if let device = objects.devices.first(where: { $0.address == wanted }) {
      let hasFailed = retries[wanted].map { $0.next > $0.opened } ?? false
      guard hasFailed, !device.isConnected, !device.isInRange else { return search.stop() }
    }
    search.advance(with: objects.adapters)
  }

  private static func description(
    _ device: BluetoothDevice, _ model: LowEnergyModel
  ) -> TrackerDescription {
    var tracker = TrackerDescription(
      path: pathPrefix + device.address, vendorID: device.vendorID, productID: device.productID,
      serial: device.address, manufacturer: model.manufacturer,
      product: device.name.isEmpty ? device.address : device.name, bus: .bluetooth,
      protocolDescription: model.name, kind: model.kind, access: .ready, id: device.address)
    tracker.isAway = !device.isConnected
    tracker.evidence = model.evidence
    tracker.levelsItself = model.levelsItself
    return tracker
  }

  // MARK: Connect

  package func connect(
    _ tracker: TrackerDescription, isCalibrated: Bool
  ) throws(HeadTrackingError) -> any TrackerConnection {
    let address = tracker.serial
    if let retry = retries.withLock({ $0[address] }), let error = retry.error,
      retry.waits(for: (try? watch.objects())?.devices.first { $0.address == address })
    {
      throw error
    }
    search.stop()
    wanted.withLock { $0 = address }
    do throws(BusError) {
      let bus = try Bus(address: busAddress)
      let devices = try bus.bluetoothDevices()
      guard let device = devices.first(where: { $0.address == address }),
        let model = LowEnergyModel.find(device, profiles)
      else {
        throw BusError(
          name: "",
          text: "the tracker is no longer in the list of Bluetooth devices; scan for it again")
      }
      capture?.source = model.source
      let link = try GATTLink(device.path, notifications: model.notifications, on: bus)
      let connection = try LowEnergyConnection(
        link, model.open(LowEnergyModel.Settings(axes: axes, isCalibrated: isCalibrated)),
        isCalibrated: isCalibrated, capture: capture,
        lost: { [weak self] in self?.postpone(address, nil) })
      retries.withLock { $0[address, default: Retry()].opened = monotonic_nanoseconds() }
      return connection
    } catch {
      let failure = HeadTrackingError.cannotConnect(name: tracker.name, reason: Self.reason(error))
      postpone(address, failure)
      throw failure
    }
  }

  /// Defers the next attempt after a failure or a lost link: by 1, 2, 4 and then 8 s each time, or
  /// by `unseenTime` if the tracker is not in range. After a link that lasted longer than
  /// `steadyLink`, the delays begin at 1 s again.
  private func postpone(_ address: String, _ error: HeadTrackingError?) {
    let now = monotonic_nanoseconds()
    retries.withLock { retries in
      var retry = retries[address] ?? Retry()
      if retry.opened > retry.next, now - retry.opened > Self.steadyLink { retry.failures = 0 }
      retry.next = now + Int64(1 << retry.failures) * 1_000_000_000
      retry.nextUnseen = now + Self.unseenTime
      retry.failures = min(3, retry.failures + 1)
      retry.error = error
      retries[address] = retry
    }
  }

  private static func reason(_ error: BusError) -> String {
    switch error.name {
    case "org.bluez.Error.NotReady": "Bluetooth is off; switch it on"
    case "org.bluez.Error.NotPermitted", "org.bluez.Error.InProgress":
      "another program may be using the tracker; close that program"
    case "org.freedesktop.DBus.Error.AccessDenied":
      "access to the Bluetooth service is denied; run the program outside a sandbox, or as a user "
        + "who may use Bluetooth"
    case "org.bluez.Error.Failed", "org.freedesktop.DBus.Error.NoReply":
      "the connection failed (\(error.text)); wake the tracker, and bring it closer"
    default: error.text
    }
  }
}
