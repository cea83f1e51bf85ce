// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A head tracker that is connected.
public struct TrackerDescription: Sendable, Equatable {
  /// Whether the tracker can be used.
  public enum Access: Sendable, Equatable {
    case ready
    /// The device node belongs to somebody else; see `udevRule`.
    case permissionDenied
    case failed(String)
  }

  /// The device node, such as `/dev/hidraw3`. Changes with every connection.
  public var path: String
  public var vendorID: UInt16
  public var productID: UInt16
  /// Empty where the device has none. A Bluetooth device's is its address.
  public var serial: String
  public var manufacturer: String
  public var product: String
  public var bus: TrackerBus
  /// What the device says of itself, such as `#AndroidHeadTracker#1.0`; empty where unreadable.
  public var protocolDescription: String
  public var kind: TrackerKind
  public var access: Access
  /// What to write on the command line: the serial if no other tracker has it, else the path.
  public var id: String

  /// Vendor and product in the usual form, such as `1d6b:0104`.
  public var vendorAndProduct: String {
    hex(vendorID) + ":" + hex(productID)
  }

  /// The product's name, or a name made of its numbers.
  public var name: String { product.isEmpty ? "tracker \(vendorAndProduct)" : product }

  /// The line for udev that gives the tracker to whoever sits at the machine.
  public var udevRule: String {
    let number = bus == .bluetooth ? "0005" : "0003"
    let device = "\(number):\(hex(vendorID)):\(hex(productID)).*".uppercased()
    return "KERNEL==\"hidraw*\", KERNELS==\"\(device)\", TAG+=\"uaccess\""
  }

  /// Why the tracker cannot be used, or nil.
  public var accessError: HeadTrackingError? {
    switch access {
    case .ready: nil
    case .permissionDenied: .permissionDenied(path: path, udevRule: udevRule)
    case .failed(let reason): .cannotOpen(path: path, reason: reason)
    }
  }

  /// Opens and starts the tracker.
  func connect(_ settings: TrackerSettings) throws(HeadTrackingError) -> any TrackerConnection {
    if bus == .iio {
      guard
        let unit = SensorUnit.all(in: settings.sensorFolder).first(where: { $0.folders[0] == path })
      else { throw .cannotOpen(path: path, reason: errorText(ENODEV)) }
      return try SensorConnection(unit, axes: settings.axes)
    }
    guard let node = HIDNode.all().first(where: { $0.path == path }) else {
      throw .cannotOpen(path: path, reason: errorText(ENODEV))
    }
    return try HIDConnection(node, settings)
  }

  /// Whether both are the same piece of hardware, as far as one can tell.
  func isSameDevice(as other: TrackerDescription) -> Bool {
    vendorID == other.vendorID && productID == other.productID && serial == other.serial
  }
}

private func hex(_ number: UInt16) -> String {
  let digits = String(number, radix: 16)
  return String(repeating: "0", count: 4 - digits.count) + digits
}

/// How a tracker is connected.
public enum TrackerBus: String, Sendable, Equatable {
  case usb
  case bluetooth
  case i2c
  case spi
  /// The kernel's industrial I/O.
  case iio
  case unknown

  /// - Parameter kernelNumber: BUS_USB and its like of the kernel's linux/input.h.
  init(kernelNumber: UInt32) {
    self =
      switch kernelNumber {
      case 0x03: .usb
      case 0x05: .bluetooth
      case 0x18: .i2c
      case 0x1C: .spi
      default: .unknown
      }
  }
}
