// SPDX-License-Identifier: Apache-2.0

import DBus

/// The devices, adapters and characteristics that BlueZ lists as D-Bus objects.
struct BlueZObjects: Equatable {
  var devices: [BluetoothDevice] = []
  var adapters: [Adapter] = []
  var characteristics: [Characteristic] = []

  /// A Bluetooth adapter of this computer (org.bluez.Adapter1).
  struct Adapter: Equatable {
    /// The object's path, such as `/org/bluez/hci0`.
    var path: String
    var address = ""
    var isPowered = false
  }

  /// A characteristic of a connected LE device (org.bluez.GattCharacteristic1).
  struct Characteristic: Equatable {
    /// The object's path, which begins with the device's path.
    var path: String
    /// The UUID, in lower case.
    var uuid = ""
  }

  /// Returns the first characteristic whose UUID begins with `uuid` (in lower case), on the device
  /// with the object path `device`; nil if there is none.
  func characteristic(_ uuid: String, of device: String) -> Characteristic? {
    characteristics.first { $0.path.hasPrefix(device + "/") && $0.uuid.hasPrefix(uuid) }
  }
}

extension BusError {
  /// The reason why the Bluetooth service cannot be used.
  var bluetoothReason: String {
    switch name {
    case "":
      "the D-Bus system bus cannot be reached (\(text)); run the program outside a sandbox, or "
        + "start D-Bus"
    case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
      "org.freedesktop.systemd1.NoSuchUnit",
      "org.freedesktop.DBus.Error.Spawn.ServiceNotFound":
      "the Bluetooth service is not running; start it with 'systemctl start bluetooth', "
        + "or install BlueZ"
    case "org.freedesktop.DBus.Error.AccessDenied":
      "access to the Bluetooth service is denied; run the program outside a sandbox, or as a user "
        + "who may use Bluetooth"
    default: text
    }
  }
}

extension Bus {
  /// The name of BlueZ on the bus.
  static let bluez = "org.bluez"

  /// Returns a method of a BlueZ object. The prefix `org.bluez.` is added to the interface.
  static func bluez(_ path: String, _ interface: String, _ name: String) -> Method {
    Method(service: bluez, path: path, interface: "org.bluez.\(interface)", name: name)
  }

  /// Returns the Bluetooth devices that BlueZ knows, except those without a valid address.
  ///
  /// - Throws: an error from the bus, for example if bluetoothd is not running.
  func bluetoothDevices() throws(BusError) -> [BluetoothDevice] { try bluetoothObjects().devices }

  /// Returns the adapters, devices and characteristics that BlueZ knows, except devices without a
  /// valid address.
  ///
  /// - Throws: an error from the bus, for example if bluetoothd is not running.
  func bluetoothObjects() throws(BusError) -> BlueZObjects {
    let reply = try call(
      Method(
        service: Self.bluez, path: "/", interface: "org.freedesktop.DBus.ObjectManager",
        name: "GetManagedObjects"))
    var objects = BlueZObjects()
    reply.entries("oa{sa{sv}}") {
      guard let path = reply.text("o") else { return }
      reply.entries("sa{sv}") { objects.add(path, reply) }
    }
    objects.devices = objects.devices.filter { $0.hasAddress }.map { device in
      var device = device
      let folder = device.path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
      device.adapter = objects.adapters.first { $0.path == folder }?.address ?? ""
      return device
    }
    return objects
  }
}

extension BlueZObjects {
  /// Reads an interface of an object from `message`, and adds the object if the interface is that
  /// of a device, an adapter or a characteristic.
  fileprivate mutating func add(_ path: String, _ message: BusMessage) {
    switch message.text() {
    case "org.bluez.Device1": devices.append(BluetoothDevice(path, message))
    case "org.bluez.Adapter1": adapters.append(Adapter(path, message))
    case "org.bluez.GattCharacteristic1": characteristics.append(Characteristic(path, message))
    default: message.skip("a{sv}")
    }
  }
}

extension BluetoothDevice {
  fileprivate init(_ path: String, _ message: BusMessage) {
    var device = BluetoothDevice(path: path)
    message.entries("sv") {
      let (name, value) = (message.text(), message.variant())
      switch (name, value) {
      case ("RSSI", _): device.isInRange = true
      case ("Address", .text(let text)): device.address = text
      case ("Alias", .text(let text)):
        device.name = String(text.prefix(BluetoothDevice.longestName))
      case ("Modalias", .text(let text)): device.modalias = text
      case ("Connected", .flag(let flag)): device.isConnected = flag
      case ("ServicesResolved", .flag(let flag)): device.isResolved = flag
      case ("UUIDs", .texts(let texts)): device.services = texts.map { $0.lowercased() }
      default: break
      }
    }
    self = device
  }
}

extension BlueZObjects.Adapter {
  fileprivate init(_ path: String, _ message: BusMessage) {
    var adapter = BlueZObjects.Adapter(path: path)
    message.entries("sv") {
      let (name, value) = (message.text(), message.variant())
      switch (name, value) {
      case ("Address", .text(let text)): adapter.address = text
      case ("Powered", .flag(let flag)): adapter.isPowered = flag
      default: break
      }
    }
    self = adapter
  }
}

extension BlueZObjects.Characteristic {
  fileprivate init(_ path: String, _ message: BusMessage) {
    var characteristic = BlueZObjects.Characteristic(path: path)
    message.entries("sv") {
      let (name, value) = (message.text(), message.variant())
      if name == "UUID", case .text(let text) = value { characteristic.uuid = text.lowercased() }
    }
    self = characteristic
  }
}
