// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

/// A network interface that a USB device provides.
struct USBNetworkInterface: Sendable, Equatable {
  /// The interface's name, such as `enx0a1b2c`.
  var name: String
  var vendorID: UInt16
  var productID: UInt16
  /// The serial number; empty if unknown.
  var serial: String
  /// The IPv4 addresses that the computer has on the interface.
  var addresses: [String] = []

  /// Returns the interfaces that USB devices provide, sorted by name.
  static func all(in folder: String = "/sys/class/net") -> [USBNetworkInterface] {
    let found = (SystemFile.names(in: folder) ?? []).sorted().compactMap {
      USBNetworkInterface($0, in: folder)
    }
    guard !found.isEmpty else { return [] }
    let addresses = addresses()
    return found.map { interface in
      var interface = interface
      interface.addresses = addresses.filter { $0.name == interface.name }.map(\.address)
      return interface
    }
  }

  init(
    name: String, vendorID: UInt16, productID: UInt16, serial: String = "",
    addresses: [String] = []
  ) {
    (self.name, self.vendorID, self.productID) = (name, vendorID, productID)
    (self.serial, self.addresses) = (serial, addresses)
  }

  /// Returns nil if the interface does not belong to a USB device, or if the device's IDs cannot be
  /// read.
  private init?(_ name: String, in folder: String) {
    // The link leads to the USB interface, whose parent is the device.
    guard let interface = SystemFile.resolved("\(folder)/\(name)/device") else { return nil }
    let device = interface.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    guard let vendor = UInt16(Self.text(device + "/idVendor"), radix: 16),
      let product = UInt16(Self.text(device + "/idProduct"), radix: 16)
    else { return nil }
    self.init(
      name: name, vendorID: vendor, productID: product, serial: Self.text(device + "/serial"))
  }

  /// Returns the printable characters in the first 256 bytes of a file; empty if it cannot be read.
  private static func text(_ file: String) -> String {
    let bytes = (try? SystemFile.contents(file, limit: 256)) ?? []
    let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars.filter {
      $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
    }
    return String(String.UnicodeScalarView(scalars))
  }

  /// Returns this computer's IPv4 addresses with the names of their interfaces.
  private static func addresses() -> [(name: String, address: String)] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return [] }
    defer { freeifaddrs(list) }
    var found: [(String, String)] = []
    var next = list
    while let entry = next?.pointee {
      next = entry.ifa_next
      guard let address = entry.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET) else {
        continue
      }
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let length = socklen_t(MemoryLayout<sockaddr_in>.size)
      guard
        getnameinfo(
          address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
      else { continue }
      let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      found.append((String(cString: entry.ifa_name), String(decoding: bytes, as: UTF8.self)))
    }
    return found
  }
}
