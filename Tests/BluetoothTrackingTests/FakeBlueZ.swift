// SPDX-License-Identifier: Apache-2.0

import CDBus
import DBus
import Glibc
import Synchronization
import System
import TestSupport

@testable import BluetoothTracking

/// A private D-Bus system bus with a Bluetooth service that knows some devices. A device's serial
/// port is one end of a socket pair.
final class FakeBlueZ: Sendable {
  struct Failure: Error {}

  private let daemon: PrivateBus
  private let worker = Worker()
  private let service: Service

  var address: String { daemon.address }

  /// The service; its bus belongs to its thread.
  final class Service: @unchecked Sendable {
    let devices = Mutex<[BluetoothDevice]>([])
    /// Far ends of the serial ports that were opened.
    let ports = Mutex<[Int32]>([])
    /// The D-Bus error that `RegisterProfile` returns; nil for success.
    let refusal = Mutex<String?>(nil)
    fileprivate var bus: Bus?
    fileprivate var handler: (service: String, path: String)?
  }

  /// Starts the bus and the service.
  ///
  /// - Throws: if there is no dbus-daemon, or if it does not start.
  init(in folder: TemporaryFolder, devices: [BluetoothDevice]) throws {
    daemon = try PrivateBus(in: folder)
    let service = Service()
    service.devices.withLock { $0 = devices }
    self.service = service
    let (address, worker) = (daemon.address, worker)
    worker.start { service.serve(address, worker) }
    guard waitUntil(seconds: 20, { (try? Bus(address: address).bluetoothDevices()) != nil })
    else { throw Failure() }
  }

  deinit { worker.stop() }

  func set(devices: [BluetoothDevice]) { service.devices.withLock { $0 = devices } }

  func refuse(_ error: String?) { service.refusal.withLock { $0 = error } }

  /// Returns the far end of the serial port that was opened last; nil before.
  func port() -> Int32? { service.ports.withLock { $0.last } }
}

extension FakeBlueZ.Service {
  fileprivate func serve(_ address: String, _ worker: Worker) {
    guard let bus = try? Bus(address: address) else { return }
    self.bus = bus
    let context = Unmanaged.passUnretained(self).toOpaque()
    var slots: [OpaquePointer?] = [nil, nil]
    bus_add_object(bus.bus, &slots[0], "/", Self.handle, context)
    bus_add_object(bus.bus, &slots[1], "/org/bluez", Self.handle, context)
    var deviceSlots: [OpaquePointer?] = []
    for device in devices.withLock({ $0 }) {
      var slot: OpaquePointer?
      bus_add_object(bus.bus, &slot, device.path, Self.handle, context)
      deviceSlots.append(slot)
    }
    bus_request_name(bus.bus, "org.bluez", 0)
    while !worker.isStopped {
      if bus_process(bus.bus, nil) == 0 { bus_wait(bus.bus, 20_000) }
    }
    for slot in slots + deviceSlots { bus_cancel(slot) }
    self.bus = nil
    for port in ports.withLock({ $0 }) { close(port) }
  }

  private static let handle: bus_handler = { message, context, failure in
    guard let message, let context else { return 0 }
    let service = Unmanaged<FakeBlueZ.Service>.fromOpaque(context).takeUnretainedValue()
    func isCall(_ interface: String, _ name: String) -> Bool {
      bus_message_is_method_call(message, interface, name) > 0
    }
    var error: String?
    var reply: OpaquePointer?
    if isCall("org.freedesktop.DBus.ObjectManager", "GetManagedObjects") {
      bus_message_new_method_return(message, &reply)
      guard let reply else { return 0 }
      service.describe(BusMessage(reply))
      return 1
    } else if isCall("org.bluez.ProfileManager1", "RegisterProfile") {
      error = service.refusal.withLock { $0 }
      let sender = bus_message_sender(message).map { String(cString: $0) } ?? ""
      var path: UnsafePointer<CChar>?
      bus_message_read_basic(message, CChar(UInt8(ascii: "o")), &path)
      service.handler = (sender, path.map { String(cString: $0) } ?? "")
    } else if isCall("org.bluez.Device1", "ConnectProfile") {
      service.hand(over: String(cString: bus_message_path(message)))
    } else if !isCall("org.bluez.ProfileManager1", "UnregisterProfile") {
      return 0
    }
    if let error { return bus_error_set(failure, error, "refused for the test") }
    bus_message_new_method_return(message, &reply)
    guard let reply else { return 0 }
    bus_send(nil, reply, nil)
    bus_release(reply)
    return 1
  }

  private func describe(_ reply: BusMessage) {
    reply.container("a", "{oa{sa{sv}}}") {
      for device in devices.withLock({ $0 }) {
        reply.container("e", "oa{sa{sv}}") {
          reply.append(device.path, as: "o")
          reply.container("a", "{sa{sv}}") {
            reply.container("e", "sa{sv}") {
              reply.append("org.bluez.Device1")
              reply.append([
                ("Address", .text(device.address)), ("Alias", .text(device.name)),
                ("Connected", .flag(device.isConnected)), ("UUIDs", .texts(device.services)),
                ("Modalias", .text(device.modalias)),
              ])
            }
          }
        }
      }
    }
    bus_send(nil, reply.pointer, nil)
  }

  /// Opens a serial port and gives its near end to the registered handler.
  private func hand(over device: String) {
    guard let bus, let handler else { return }
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return }
    ports.withLock { $0.append(ends[1]) }
    let call = try? bus.newCall(
      Bus.Method(
        service: handler.service, path: handler.path, interface: "org.bluez.Profile1",
        name: "NewConnection"))
    guard let call else { return }
    call.append(device, as: "o")
    call.append(descriptor: ends[0])
    call.append([])
    bus_send(bus.bus, call.pointer, nil)
    close(ends[0])
  }
}
