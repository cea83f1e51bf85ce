// SPDX-License-Identifier: Apache-2.0

import CRealtime
import DBus
import Glibc
package import HeadTracking
import Synchronization
import System

/// Provides AirPods, Beats and Galaxy Buds as trackers if BlueZ lists them as connected.
///
/// It finds none if D-Bus, BlueZ or Bluetooth is missing.
package final class EarphoneTrackers: TrackerProvider {
  /// The parameters of `EarphoneTrackers`.
  package struct Settings: Sendable {
    package var airPods = AirPodsProtocol.Settings()
    /// Records the packets exchanged on the links that `connect` opens; nil to record none.
    package var capture: FrameCapture?
    /// Returns what is remembered about the earphones with the given address; nil if nothing is.
    package var recall: @Sendable (String) -> EarphoneMemory? = { _ in nil }
    /// Stores what was learned about the earphones with the given address.
    package var remember: @Sendable (String, EarphoneMemory) -> Void = { _, _ in }

    /// The address of the D-Bus system bus; nil for the usual address.
    package var busAddress: String?

    package init() {}
  }

  private let settings: Settings
  private let state = Mutex(State())

  /// Connected earphones that BlueZ lists.
  private struct Found {
    var device: BluetoothDevice
    var model: EarphoneModel
  }

  /// When earphones may be opened again after a failure or a lost link. Times are CLOCK_MONOTONIC,
  /// in nanoseconds.
  private struct Retry {
    var failures = 0
    /// When the latest link was opened; 0 if there was none.
    var opened: Int64 = 0
    /// When the earphones may be opened again.
    var next: Int64 = 0
    /// The latest error in opening the earphones; nil if there was none or a link was lost later.
    var error: HeadTrackingError?

    /// Whether `trackers` omits the earphones at this time.
    func isHidden(_ now: Int64) -> Bool { error == nil && now < next }
  }

  private struct State {
    var found: [Found] = []
    var listedAt = Int64.min
    var isAbsent = false
    var retries: [String: Retry] = [:]
    var memories: [String: EarphoneMemory] = [:]
    var problem: String?
  }

  /// The prefix of a tracker's path. The Bluetooth address follows it.
  private static let pathPrefix = "bluetooth:"
  /// How long `trackers` reuses BlueZ's list of devices, in nanoseconds, unless details are
  /// requested.
  private static let freshness: Int64 = 1_000_000_000
  /// How long `trackers` does not ask BlueZ again after the list could not be read, in nanoseconds,
  /// unless details are requested.
  private static let absentFreshness: Int64 = 10_000_000_000
  /// The longest wait for the answers of AirPods to an inquiry, in nanoseconds.
  private static let detailTime: Int64 = 1_500_000_000
  private static let channel: UInt16 = 0x1001
  private static let mtu: UInt16 = 1691
  private static let connectMilliseconds = 6000
  /// Once a link has lasted longer than this, in nanoseconds, earlier failures no longer count.
  private static let steadyLink: Int64 = 20_000_000_000

  package init(_ settings: Settings = Settings()) { self.settings = settings }

  // MARK: List

  /// Why no earphones could be found when BlueZ was last asked; nil if no problem is known.
  package var problem: String? { state.withLock { $0.problem } }

  package func trackers(detailed: Bool) -> [TrackerDescription] {
    let now = monotonic_nanoseconds()
    let found = state.withLock { state in
      let age = state.isAbsent ? Self.absentFreshness : Self.freshness
      if detailed || state.listedAt == .min || now - state.listedAt >= age {
        list(&state)
        state.listedAt = now
      }
      return state.found.filter { !(state.retries[$0.device.address]?.isHidden(now) ?? false) }
    }
    return found.map { found in
      var tracker = Self.description(found)
      if detailed { ask(found, &tracker) }
      return tracker
    }
  }

  private func list(_ state: inout State) {
    state.found = []
    do throws(BusError) {
      let devices = try Bus(address: settings.busAddress).bluetoothDevices()
      state.found = devices.compactMap { device in
        guard device.isConnected, let model = EarphoneModel(device) else { return nil }
        return Found(device: device, model: model)
      }
      (state.isAbsent, state.problem) = (false, nil)
    } catch {
      state.isAbsent = true
      state.problem = Self.problemText(error)
    }
  }

  private static func problemText(_ error: BusError) -> String {
    "Bluetooth trackers cannot be found: \(error.bluetoothReason)"
  }

  private static func description(_ found: Found) -> TrackerDescription {
    let device = found.device
    let name = device.name.isEmpty ? device.address : device.name
    var tracker = TrackerDescription(
      path: pathPrefix + device.address, vendorID: device.vendorID, productID: device.productID,
      serial: device.address, manufacturer: found.model.kind == .airPods ? "Apple" : "Samsung",
      product: name, bus: .bluetooth, protocolDescription: found.model.kind.protocolName,
      kind: .head, access: .ready, id: device.address)
    tracker.earphones = EarphoneDetails(isUntested: !found.model.isTested)
    tracker.evidence = found.model.isTested ? .captures : .documentation
    tracker.levelsItself = true
    return tracker
  }

  /// Asks AirPods for details. If their channel cannot be opened, another program is assumed to
  /// hold it.
  private func ask(_ found: Found, _ tracker: inout TrackerDescription) {
    guard found.model.kind == .airPods else { return }
    do throws(HeadTrackingError) {
      let socket = try open(found)
      var inquiry = AirPodsInquiry()
      let untested = tracker.earphones?.isUntested ?? true
      var details = inquiry.details(socket, until: monotonic_nanoseconds() + Self.detailTime)
      details.isUntested = untested
      tracker.earphones = details
    } catch {
      tracker.earphones?.state = .heldByAnotherProgram
    }
  }

  // MARK: Connect

  package func connect(
    _ tracker: TrackerDescription, isCalibrated: Bool
  ) throws(HeadTrackingError) -> any TrackerConnection {
    let address = tracker.serial
    let retry = state.withLock { $0.retries[address] }
    if let retry, let error = retry.error, monotonic_nanoseconds() < retry.next { throw error }
    // Opening a channel would reconnect a device that has since been disconnected, so list again.
    let (found, problem) = state.withLock { state in
      list(&state)
      return (state.found.first { $0.device.address == address }, state.problem)
    }
    guard let found else {
      throw .cannotConnect(
        name: tracker.name,
        reason: problem
          ?? "the Bluetooth service does not list the earphones as connected; check the Bluetooth "
          + "settings")
    }
    do throws(HeadTrackingError) {
      let memory = memory(of: address)
      guard !ServiceStarter.knownServices.allSatisfy(memory.avoided.contains) else {
        throw .cannotConnect(
          name: tracker.name,
          reason: "the earphones disconnect when their sensor is started; update their firmware")
      }
      let socket = try open(found)
      settings.capture?.source = found.model.kind.rawValue
      let observer = EarphoneConnection.Observer(
        remember: { [weak self] in self?.learn(address, $0) },
        lost: { [weak self] in self?.postpone(address, nil) })
      state.withLock { $0.retries[address, default: Retry()].opened = monotonic_nanoseconds() }
      return EarphoneConnection(
        socket, session(found, memory, isCalibrated: isCalibrated), capture: settings.capture,
        observer: observer)
    } catch {
      postpone(address, error)
      throw error
    }
  }

  private func memory(of address: String) -> EarphoneMemory {
    let known = state.withLock { $0.memories[address] }
    return known ?? settings.recall(address) ?? EarphoneMemory()
  }

  private func learn(_ address: String, _ memory: EarphoneMemory) {
    state.withLock { $0.memories[address] = memory }
    settings.remember(address, memory)
  }

  /// Defers the next attempt after a failure or a lost link: by 1, 2, 4 and then 8 s each time.
  /// After a link that lasted longer than `steadyLink`, the delays begin at 1 s again.
  private func postpone(_ address: String, _ error: HeadTrackingError?) {
    let now = monotonic_nanoseconds()
    state.withLock { state in
      var retry = state.retries[address] ?? Retry()
      if now - retry.opened > Self.steadyLink, retry.opened > retry.next { retry.failures = 0 }
      retry.next = now + Int64(1 << retry.failures) * 1_000_000_000
      retry.failures = min(3, retry.failures + 1)
      retry.error = error
      state.retries[address] = retry
    }
  }

  private func session(
    _ found: Found, _ memory: EarphoneMemory, isCalibrated: Bool
  ) -> any EarphoneProtocol {
    switch found.model.kind {
    case .airPods:
      AirPodsProtocol(settings: settings.airPods, memory: memory, isCalibrated: isCalibrated)
    case .galaxyBuds: GalaxyBudsProtocol(isCalibrated: isCalibrated)
    }
  }

  private func open(_ found: Found) throws(HeadTrackingError) -> EarphoneConnection.Socket {
    let device = found.device
    switch found.model.kind {
    case .airPods:
      do throws(SocketError) {
        return EarphoneConnection.Socket(
          try L2CAPSocket.open(
            device.address, adapter: device.adapter, psm: Self.channel, mtu: Self.mtu,
            timeoutMilliseconds: Self.connectMilliseconds))
      } catch { throw .cannotConnect(name: device.name, reason: error.text) }
    case .galaxyBuds:
      do throws(BusError) {
        let bus = try Bus(address: settings.busAddress)
        let profile = try SerialProfile(found.model.service, on: bus)
        let descriptor = try profile.connect(device.path, service: found.model.service)
        return EarphoneConnection.Socket(descriptor, owner: profile)
      } catch { throw .cannotConnect(name: device.name, reason: Self.reason(error)) }
    }
  }

  private static func reason(_ error: BusError) -> String {
    switch error.name {
    case "org.bluez.Error.AlreadyExists", "org.bluez.Error.NotPermitted":
      "\(OtherClients.running.first ?? "another program") may be using the earphones' sensor; "
        + "close that program"
    case "org.freedesktop.DBus.Error.AccessDenied":
      "access to the Bluetooth service is denied; run the program outside a sandbox, or as a user "
        + "who may use Bluetooth"
    default: error.text
    }
  }
}
