// SPDX-License-Identifier: Apache-2.0

import DBus

/// A Bluetooth device as BlueZ describes it (org.bluez.Device1).
struct BluetoothDevice: Equatable {
  /// The object's path, such as `/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF`.
  var path: String
  /// The address, such as `AA:BB:CC:DD:EE:FF`.
  var address = ""
  var name = ""
  var isConnected = false
  /// The services, as lower-case UUIDs.
  var services: [String] = []
  /// Vendor and product, such as `bluetooth:v004Cp2014d0100`; empty if unknown.
  var modalias = ""
  /// The adapter's address, such as `00:11:22:33:44:55`; empty if unknown.
  var adapter = ""

  /// 0 if unknown.
  var vendorID: UInt16 { number(after: "v") }
  /// 0 if unknown.
  var productID: UInt16 { number(after: "p") }

  private func number(after letter: Character) -> UInt16 {
    guard let colon = modalias.firstIndex(of: ":"),
      let at = modalias[colon...].firstIndex(of: letter)
    else { return 0 }
    return UInt16(modalias[at...].dropFirst().prefix(4), radix: 16) ?? 0
  }
}

extension Bus {
  private static let bluez = "org.bluez"

  /// Returns the Bluetooth devices that BlueZ knows.
  ///
  /// - Throws: an error from the bus, for example if bluetoothd is not running.
  func bluetoothDevices() throws(BusError) -> [BluetoothDevice] {
    let reply = try call(
      Method(
        service: Self.bluez, path: "/", interface: "org.freedesktop.DBus.ObjectManager",
        name: "GetManagedObjects"))
    var devices: [BluetoothDevice] = []
    var adapters: [String: String] = [:]
    reply.entries("oa{sa{sv}}") {
      guard let path = reply.text("o") else { return }
      reply.entries("sa{sv}") {
        switch reply.text() {
        case "org.bluez.Device1": devices.append(Self.device(path, reply))
        case "org.bluez.Adapter1": adapters[path] = Self.device(path, reply).address
        default: reply.skip("a{sv}")
        }
      }
    }
    return devices.map { device in
      var device = device
      let folder = device.path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
      device.adapter = adapters[folder] ?? ""
      return device
    }
  }

  private static func device(_ path: String, _ message: BusMessage) -> BluetoothDevice {
    var device = BluetoothDevice(path: path)
    message.entries("sv") {
      switch (message.text(), message.variant()) {
      case ("Address", .text(let text)): device.address = text
      case ("Alias", .text(let text)): device.name = text
      case ("Modalias", .text(let text)): device.modalias = text
      case ("Connected", .flag(let flag)): device.isConnected = flag
      case ("UUIDs", .texts(let texts)): device.services = texts.map { $0.lowercased() }
      default: break
      }
    }
    return device
  }
}
