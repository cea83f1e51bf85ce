// SPDX-License-Identifier: Apache-2.0

import CRealtime
import DBus
import Glibc

/// A connection to a Bluetooth LE device through BlueZ. It delivers the notifications of one
/// characteristic.
///
/// ## Threading
/// A link may be used from one thread at a time.
final class GATTLink {
  private let bus: Bus
  private let device: String
  private let objects: BlueZObjects
  /// Whether this link connected the device and must therefore disconnect it.
  private let isOwner: Bool
  /// A packet socket on which each packet is one notification.
  let descriptor: Int32

  /// The longest wait for the connection to the device, in milliseconds.
  private static let connectMilliseconds: UInt64 = 10_000
  /// The longest wait until BlueZ lists the device's services and the characteristic, in
  /// nanoseconds.
  private static let resolveTime: Int64 = 6_000_000_000
  /// The longest wait for the characteristics of a device whose services are known, in nanoseconds.
  /// BlueZ may list the characteristics slightly later than the services.
  private static let listingTime: Int64 = 1_000_000_000

  /// Connects to a device, if it is not connected, and enables a characteristic's notifications.
  ///
  /// - Parameters:
  ///   - device: the path of the device's D-Bus object.
  ///   - characteristic: the beginning of the characteristic's UUID.
  /// - Throws: an error from BlueZ, or a `BusError` with an empty name, for example if the device
  ///   disconnects or does not list the characteristic in time.
  init(_ device: String, notifications characteristic: String, on bus: Bus) throws(BusError) {
    self.bus = bus
    self.device = device
    var isOwner = false
    do throws(BusError) {
      isOwner = try Self.connect(device, bus)
      let (objects, source) = try Self.resolved(device, characteristic, bus)
      self.objects = objects
      descriptor = try Self.acquire(source.path, bus)
    } catch {
      if isOwner { Self.disconnect(device, bus) }
      throw error
    }
    self.isOwner = isOwner
  }

  deinit {
    close(descriptor)
    if isOwner { Self.disconnect(device, bus) }
  }

  /// Writes to the characteristic that `write` names.
  ///
  /// - Throws: an error from BlueZ, or a `BusError` with an empty name if the device does not have
  ///   the characteristic.
  func write(_ write: GATTWrite) throws(BusError) {
    guard let target = objects.characteristic(write.characteristic, of: device) else {
      throw BusError(
        name: "",
        text: "the tracker lacks a GATT characteristic that its model or profile requires; "
          + "choose another tracker or profile")
    }
    try bus.call(Bus.bluez(target.path, "GattCharacteristic1", "WriteValue")) { message in
      message.append(bytes: write.bytes)
      message.append([("type", .text(write.isAcknowledged ? "request" : "command"))])
    }
  }

  // MARK: Steps

  /// Connects to the device. Returns false if it was connected already.
  private static func connect(_ device: String, _ bus: Bus) throws(BusError) -> Bool {
    let isConnected = try bus.bluetoothDevices().contains { $0.path == device && $0.isConnected }
    guard !isConnected else { return false }
    do throws(BusError) {
      try bus.call(
        Bus.bluez(device, "Device1", "Connect"), milliseconds: connectMilliseconds)
    } catch {
      if error.name == "org.bluez.Error.AlreadyConnected" { return false }
      // Cancel the attempt, which may still be in progress.
      disconnect(device, bus)
      throw error
    }
    return true
  }

  private static func disconnect(_ device: String, _ bus: Bus) {
    _ = try? bus.call(Bus.bluez(device, "Device1", "Disconnect"))
  }

  /// Waits until BlueZ lists the device's characteristic whose UUID begins with `uuid`. Returns
  /// BlueZ's objects and this characteristic.
  private static func resolved(
    _ device: String, _ uuid: String, _ bus: Bus
  ) throws(BusError) -> (BlueZObjects, BlueZObjects.Characteristic) {
    let end = monotonic_nanoseconds() + resolveTime
    var listingEnd: Int64?
    while true {
      let objects = try bus.bluetoothObjects()
      guard let found = objects.devices.first(where: { $0.path == device && $0.isConnected }) else {
        throw BusError(
          name: "",
          text: "the tracker disconnected before its services were listed; bring it closer")
      }
      if found.isResolved {
        if let source = objects.characteristic(uuid, of: device) { return (objects, source) }
        listingEnd = listingEnd ?? monotonic_nanoseconds() + listingTime
        if let listingEnd, monotonic_nanoseconds() > listingEnd {
          throw BusError(
            name: "",
            text: "the tracker lacks a GATT characteristic that its model or profile requires; "
              + "choose another tracker or profile")
        }
      }
      guard monotonic_nanoseconds() < end else {
        throw BusError(
          name: "",
          text: "the tracker's services and characteristics were not listed in time; "
            + "bring it closer")
      }
      usleep(50_000)
    }
  }

  /// Enables the notifications of a characteristic. Returns a non-blocking descriptor, which the
  /// caller closes.
  private static func acquire(_ characteristic: String, _ bus: Bus) throws(BusError) -> Int32 {
    let reply = try bus.call(Bus.bluez(characteristic, "GattCharacteristic1", "AcquireNotify")) {
      $0.append([])
    }
    guard let theirs = reply.descriptor() else { throw BusError(number: EPROTO) }
    // Releasing the message closes its descriptor, so duplicate the descriptor.
    let descriptor = fcntl(theirs, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { throw BusError(number: errno) }
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    return descriptor
  }
}
