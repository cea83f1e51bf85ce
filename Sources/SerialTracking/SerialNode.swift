// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

/// The kernel's description of a USB serial port. This type does not open the port.
struct SerialNode: Sendable, Equatable {
  /// The path of the device file, such as `/dev/ttyACM0`.
  var path: String
  var vendorID: UInt16
  var productID: UInt16
  /// The serial number; empty if unknown.
  var serial: String
  var manufacturer: String
  var product: String

  /// The folders in which the system lists the ports.
  struct Place: Sendable {
    /// The kernel's folder of terminals.
    var classFolder = "/sys/class/tty"
    var deviceFolder = "/dev"
  }

  /// Returns the USB serial ports, ordered by the lengths of their names and then by name.
  static func all(in place: Place = Place()) -> [SerialNode] {
    let names = (SystemFile.names(in: place.classFolder) ?? []).filter {
      $0.hasPrefix("ttyACM") || $0.hasPrefix("ttyUSB")
    }
    return names.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }.compactMap {
      SerialNode($0, in: place)
    }
  }

  /// Returns the USB serial port at a path, which may be a link; nil if there is none.
  static func at(_ path: String, in place: Place = Place()) -> SerialNode? {
    let name = (SystemFile.resolved(path) ?? path).split(separator: "/").last.map(String.init)
    return all(in: place).first { $0.path == "\(place.deviceFolder)/\(name ?? "")" }
  }

  /// Returns nil if the port does not belong to a USB device.
  private init?(_ name: String, in place: Place) {
    guard var folder = SystemFile.resolved("\(place.classFolder)/\(name)/device")?[...] else {
      return nil
    }
    // The folder of the USB device is at most four levels above that of the port.
    for _ in 0..<4 where Self.text(folder + "/idVendor").isEmpty {
      guard let slash = folder.lastIndex(of: "/") else { return nil }
      folder = folder[..<slash]
    }
    guard let vendor = UInt16(Self.text(folder + "/idVendor"), radix: 16),
      let product = UInt16(Self.text(folder + "/idProduct"), radix: 16)
    else { return nil }
    path = "\(place.deviceFolder)/\(name)"
    (vendorID, productID) = (vendor, product)
    serial = Self.text(folder + "/serial")
    manufacturer = Self.text(folder + "/manufacturer")
    self.product = Self.text(folder + "/product")
  }

  /// Returns the printable characters in the first 256 bytes of a file, without spaces at either
  /// end; empty if the file cannot be read.
  private static func text(_ file: Substring) -> String {
    let bytes = (try? SystemFile.contents(String(file), limit: 256)) ?? []
    var scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars.filter {
      $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
    }
    while scalars.last == " " { scalars.removeLast() }
    while scalars.first == " " { scalars.removeFirst() }
    return String(String.UnicodeScalarView(scalars))
  }
}
