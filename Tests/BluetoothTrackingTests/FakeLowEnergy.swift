// SPDX-License-Identifier: Apache-2.0

import CDBus
import DBus
import Glibc
import Synchronization
import System
import TestSupport

@testable import BluetoothTracking

/// A private D-Bus system bus with a BlueZ that has one adapter and Bluetooth LE devices. Notifying
/// returns one end of a socket pair.
final class FakeLowEnergy: Sendable {
  struct Failure: Error {}

  /// A simulated device.
  struct Device: Sendable {
    var path: String
    var address: String
    var name: String
    var services: [String] = []
    var isConnected = false
    /// Whether BlueZ knows the device without a search.
    var isKnown = true
    /// Whether the device answers a connection attempt.
    var answers = true
    /// Seconds that a connection attempt takes.
    var connectSeconds: UInt32 = 0
    /// The UUIDs of the characteristics.
    var characteristics: [String]

    init(_ number: Int, _ name: String, _ characteristics: [String]) {
      path = "/org/bluez/hci0/dev_00_00_00_00_00_0\(number)"
      address = "00:00:00:00:00:0\(number)"
      self.name = name
      self.characteristics = characteristics
    }

    func characteristic(_ index: Int) -> String { "\(path)/service0010/char001\(index)" }
  }

  struct Write: Equatable, Sendable {
    var characteristic: String
    var bytes: [UInt8]
    var type: String
  }

  struct State {
    var devices: [Device] = []
    var isPowered = true
    var isSearching = false
    /// The number of calls of `Connect`.
    var attempts = 0
    var listings = 0
    var writes: [Write] = []
    var disconnections = 0
    /// The far ends of the notifications, by the path of the characteristic.
    var notifying: [String: Int32] = [:]
    /// The D-Bus error that `AcquireNotify` returns; nil for success.
    var refusal: String?
    /// The paths for which a signal is due.
    var announcements: [String] = []
  }

  private let daemon: PrivateBus
  private let worker = Worker()
  private let service: Service
  var address: String { daemon.address }

  /// The service; its bus belongs to its thread.
  final class Service: @unchecked Sendable {
    let state = Mutex(State())
    fileprivate var bus: Bus?
  }

  init(in folder: TemporaryFolder, devices: [Device]) throws {
    daemon = try PrivateBus(in: folder)
    let (service, address, worker) = (Service(), daemon.address, worker)
    service.state.withLock { $0.devices = devices }
    self.service = service
    worker.start { service.serve(address, worker) }
    guard waitUntil(seconds: 20, { (try? Bus(address: address).bluetoothDevices()) != nil })
    else { throw Failure() }
    change { $0.listings = 0 }
  }

  deinit { worker.stop() }

  @discardableResult
  func change<Result: Sendable>(_ body: (inout sending State) -> Result) -> Result {
    service.state.withLock { body(&$0) }
  }

  /// Changes a device and announces the change.
  func change(device index: Int, _ body: (inout Device) -> Void) {
    service.state.withLock { state in
      body(&state.devices[index])
      state.announcements.append(state.devices[index].path)
    }
  }

  /// Sends a notification of a device; false if it is not enabled.
  @discardableResult
  func notify(_ device: Int, _ bytes: [UInt8]) -> Bool {
    guard
      let socket = service.state.withLock({ state -> Int32? in
        state.notifying.first { $0.key.hasPrefix(state.devices[device].path + "/") }?.value
      })
    else { return false }
    return send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
  }

  /// Breaks the link to a device, which then does not answer.
  func lose(_ device: Int) {
    service.state.withLock { state in
      state.devices[device].answers = false
      state.disconnect(state.devices[device].path)
    }
  }
}

extension FakeLowEnergy.State {
  fileprivate mutating func disconnect(_ device: String) {
    for (path, socket) in notifying where path.hasPrefix(device + "/") {
      close(socket)
      notifying[path] = nil
    }
    for index in devices.indices where devices[index].path == device {
      devices[index].isConnected = false
      announcements.append(device)
    }
  }
}

extension FakeLowEnergy.Service {
  fileprivate func serve(_ address: String, _ worker: Worker) {
    guard let bus = try? Bus(address: address) else { return }
    self.bus = bus
    let context = Unmanaged.passUnretained(self).toOpaque()
    let devices = state.withLock { $0.devices }
    let paths =
      ["/", "/org/bluez/hci0"] + devices.map(\.path)
      + devices.flatMap { device in device.characteristics.indices.map(device.characteristic) }
    let slots = paths.map { path in
      var slot: OpaquePointer?
      bus_add_object(bus.bus, &slot, path, Self.handle, context)
      return slot
    }
    bus_request_name(bus.bus, "org.bluez", 0)
    while !worker.isStopped {
      announce(bus)
      if bus_process(bus.bus, nil) == 0 { bus_wait(bus.bus, 5000) }
    }
    for slot in slots { bus_cancel(slot) }
    self.bus = nil
    for socket in state.withLock({ $0.notifying.values }) { close(socket) }
  }

  private func announce(_ bus: Bus) {
    let paths = state.withLock { state in
      defer { state.announcements = [] }
      return state.announcements
    }
    for path in paths {
      var pointer: OpaquePointer?
      bus_message_new_signal(
        bus.bus, &pointer, path, "org.freedesktop.DBus.Properties", "PropertiesChanged")
      guard let pointer else { continue }
      let signal = BusMessage(pointer)
      signal.append("org.bluez.Device1")
      signal.append([("Paired", .flag(false))])
      signal.container("a", "s") {}
      bus_send(bus.bus, signal.pointer, nil)
    }
  }

  private static let handle: bus_handler = { message, context, failure in
    guard let message, let context else { return 0 }
    let service = Unmanaged<FakeLowEnergy.Service>.fromOpaque(context).takeUnretainedValue()
    return service.answer(BusMessage(retaining: message), failure)
  }

  /// The answer to a method call, or the name of an error.
  private enum Answer {
    case empty
    case error(String)
    case descriptor(Int32)
    case listing
  }

  private func answer(_ call: BusMessage, _ failure: UnsafeMutablePointer<bus_error>?) -> Int32 {
    guard let answer = act(call) else { return 0 }
    if case .error(let name) = answer { return bus_error_set(failure, name, "failed for the test") }
    var pointer: OpaquePointer?
    bus_message_new_method_return(call.pointer, &pointer)
    guard let pointer else { return 0 }
    let reply = BusMessage(pointer)
    switch answer {
    case .listing: describe(reply)
    case .descriptor(let descriptor):
      reply.append(descriptor: descriptor)
      var mtu: UInt16 = 64
      bus_message_append_basic(reply.pointer, CChar(UInt8(ascii: "q")), &mtu)
      close(descriptor)
    default: break
    }
    bus_send(nil, reply.pointer, nil)
    return 1
  }

  private func act(_ call: BusMessage) -> Answer? {
    func isCall(_ interface: String, _ name: String) -> Bool {
      bus_message_is_method_call(call.pointer, interface, name) > 0
    }
    let path = bus_message_path(call.pointer).map { String(cString: $0) } ?? ""
    if isCall("org.freedesktop.DBus.ObjectManager", "GetManagedObjects") { return .listing }
    if isCall("org.bluez.Device1", "Connect") { return connect(path) }
    if isCall("org.bluez.Device1", "Disconnect") {
      state.withLock { state in
        state.disconnections += 1
        state.disconnect(path)
      }
      return .empty
    }
    if isCall("org.bluez.GattCharacteristic1", "AcquireNotify") { return acquire(path) }
    if isCall("org.bluez.GattCharacteristic1", "WriteValue") {
      let bytes = call.bytes() ?? []
      var type = ""
      call.entries("sv") {
        let (name, value) = (call.text(), call.variant())
        if name == "type", case .text(let text) = value { type = text }
      }
      state.withLock {
        $0.writes.append(FakeLowEnergy.Write(characteristic: path, bytes: bytes, type: type))
      }
      return .empty
    }
    if isCall("org.bluez.Adapter1", "StartDiscovery") {
      state.withLock { state in
        state.isSearching = true
        for index in state.devices.indices where state.devices[index].answers {
          state.devices[index].isKnown = true
          state.announcements.append(state.devices[index].path)
        }
      }
      return .empty
    }
    if isCall("org.bluez.Adapter1", "StopDiscovery") {
      state.withLock { $0.isSearching = false }
      return .empty
    }
    return isCall("org.bluez.Adapter1", "SetDiscoveryFilter") ? .empty : nil
  }

  private func connect(_ path: String) -> Answer {
    sleep(state.withLock { $0.devices.first { $0.path == path }?.connectSeconds ?? 0 })
    return state.withLock { state in
      state.attempts += 1
      guard state.isPowered else { return .error("org.bluez.Error.NotReady") }
      guard let index = state.devices.firstIndex(where: { $0.path == path && $0.answers }) else {
        return .error("org.bluez.Error.Failed")
      }
      state.devices[index].isConnected = true
      state.announcements.append(path)
      return .empty
    }
  }

  private func acquire(_ path: String) -> Answer {
    state.withLock { state in
      if let refusal = state.refusal { return .error(refusal) }
      var ends: [Int32] = [-1, -1]
      socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
      state.notifying[path] = ends[1]
      return .descriptor(ends[0])
    }
  }

  private func describe(_ reply: BusMessage) {
    let (devices, isPowered, isSearching) = state.withLock { state in
      state.listings += 1
      return (state.devices.filter(\.isKnown), state.isPowered, state.isSearching)
    }
    func object(_ path: String, _ interface: String, _ values: [(String, BusValue)]) {
      object(path, interface) { reply.append(values) }
    }
    func object(_ path: String, _ interface: String, _ append: () -> Void) {
      reply.container("e", "oa{sa{sv}}") {
        reply.append(path, as: "o")
        reply.container("a", "{sa{sv}}") {
          reply.container("e", "sa{sv}") {
            reply.append("org.freedesktop.DBus.Introspectable")
            reply.append([])
          }
          reply.container("e", "sa{sv}") {
            reply.append(interface)
            append()
          }
          reply.container("e", "sa{sv}") {
            reply.append("org.freedesktop.DBus.Properties")
            reply.append([])
          }
        }
      }
    }
    func entry(_ name: String, _ signature: String, _ append: () -> Void) {
      reply.container("e", "sv") {
        reply.append(name)
        reply.container("v", signature, append)
      }
    }
    func properties(of device: FakeLowEnergy.Device) {
      reply.container("a", "{sv}") {
        entry("Address", "s") { reply.append(device.address) }
        entry("Alias", "s") { reply.append(device.name) }
        entry("Connected", "b") { reply.append(device.isConnected) }
        entry("UUIDs", "as") {
          reply.container("a", "s") { for service in device.services { reply.append(service) } }
        }
        entry("ServicesResolved", "b") { reply.append(device.isConnected) }
        guard isSearching, device.answers else { return }
        entry("RSSI", "n") {
          var strength: Int16 = -60
          bus_message_append_basic(reply.pointer, CChar(UInt8(ascii: "n")), &strength)
        }
      }
    }
    /// Appends the properties of a characteristic as BlueZ 5.66 lists them.
    func characteristic(_ uuid: String, of device: String) {
      reply.container("a", "{sv}") {
        entry("UUID", "s") { reply.append(uuid) }
        entry("Service", "o") { reply.append(device + "/service0010", as: "o") }
        entry("Value", "ay") { reply.append(bytes: []) }
        entry("Notifying", "b") { reply.append(false) }
        entry("Flags", "as") { reply.container("a", "s") { reply.append("notify") } }
        entry("MTU", "q") {
          var mtu: UInt16 = 517
          bus_message_append_basic(reply.pointer, CChar(UInt8(ascii: "q")), &mtu)
        }
      }
    }
    reply.container("a", "{oa{sa{sv}}}") {
      object(
        "/org/bluez/hci0", "org.bluez.Adapter1",
        [("Address", .text("00:11:22:33:44:55")), ("Powered", .flag(isPowered))])
      for device in devices {
        object(device.path, "org.bluez.Device1") { properties(of: device) }
        guard device.isConnected else { continue }
        for (index, uuid) in device.characteristics.enumerated() {
          object(device.characteristic(index), "org.bluez.GattCharacteristic1") {
            characteristic(uuid, of: device.path)
          }
        }
      }
    }
  }
}
