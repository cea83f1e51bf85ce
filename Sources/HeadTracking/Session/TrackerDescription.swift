// SPDX-License-Identifier: Apache-2.0

/// A tracker that is connected, or that is known although it is not connected (`isAway`).
public struct TrackerDescription: Sendable, Equatable {
  /// Whether the tracker can be used.
  public enum Access: Sendable, Equatable {
    case ready
    /// The user lacks permission to open the device file; see `udevRule`.
    case permissionDenied
    case failed(String)
    /// A kernel driver holds the device and gives programs no access to it.
    case heldByKernel(driver: String)
  }

  /// The device node, such as `/dev/hidraw3`, or one of these:
  /// - the folder of an industrial I/O device
  /// - `bluetooth:` and an address
  /// - `tcp:` or `udp:` with an address and a port
  /// - `midi:CLIENT:PORT` for a port of the MIDI sequencer
  /// - the ID of a port that the listener named: `midi:PORT:MODEL`, `serial:PATH:PROFILE` or
  ///   `serial:PATH:BAUD`
  /// - `replay:FILE` or `replay:FILE:PROFILE`
  /// - the USB interface or sysfs folder of a held tracker (`HeldTracker`)
  public var path: String
  public var vendorID: UInt16
  public var productID: UInt16
  /// The serial number; empty if unknown. Some trackers have a substitute:
  /// - earphones and Bluetooth LE trackers: the Bluetooth address
  /// - industrial I/O devices: `iio:` and the name
  /// - MIDI ports without a serial number: `midi:` and the name of the client or the port
  public var serial: String
  public var manufacturer: String
  public var product: String
  public var bus: TrackerBus
  /// A readable name of the device or of its protocol, such as `#AndroidHeadTracker#1.0` or
  /// `DualSense`; empty if unknown.
  public var protocolDescription: String
  public var kind: TrackerKind
  public var access: Access
  /// The identifier for the command line: the serial number if it is unique, not empty and without
  /// whitespace, otherwise the path.
  public var id: String
  /// What is known about earphones; nil for other trackers.
  public var earphones: EarphoneDetails?
  /// Whether the tracker is known but has no connection now, so it may be unreachable. Opening it
  /// connects it. Automatic selection ignores it.
  public var isAway = false
  /// What the decoding of the tracker's reports was verified with.
  public var evidence = TrackerEvidence.documentation
  /// Whether a calibration finds the tracker's exact mounting, because the tracker computes its own
  /// orientation relative to the vertical. Always false for HID trackers.
  public var levelsItself = false
  /// Whether the tracker is read through a serial port, which may be on USB.
  package var isSerialPort = false
  /// The kernel's name of a HID device, such as `0018:1234:ABCD.0001`; otherwise empty.
  package var kernelName = ""
  /// The USB interface through which libusb opens the tracker, such as `1-2:1.3`; nil for other
  /// trackers.
  package var usbPath: String?

  package init(
    path: String, vendorID: UInt16, productID: UInt16, serial: String, manufacturer: String,
    product: String, bus: TrackerBus, protocolDescription: String, kind: TrackerKind,
    access: Access, id: String
  ) {
    self.path = path
    self.vendorID = vendorID
    self.productID = productID
    self.serial = serial
    self.manufacturer = manufacturer
    self.product = product
    self.bus = bus
    self.protocolDescription = protocolDescription
    self.kind = kind
    self.access = access
    self.id = id
  }

  /// The hexadecimal IDs of the vendor and the product, such as `1d6b:0104`.
  public var vendorAndProduct: String {
    hex(vendorID) + ":" + hex(productID)
  }

  /// The product's name or, if that is empty, a name such as `tracker 1d6b:0104`.
  public var name: String { product.isEmpty ? "tracker \(vendorAndProduct)" : product }

  /// The udev rule that gives the locally logged-in user access; nil for a serial port that is not
  /// on USB. For a serial port, the rule also makes ModemManager ignore the port.
  public var udevRule: String? { isSerialPort && vendorID == 0 ? nil : accessRule }

  private var accessRule: String {
    if isSerialPort {
      return "SUBSYSTEM==\"tty\", ATTRS{idVendor}==\"\(hex(vendorID))\", "
        + "ATTRS{idProduct}==\"\(hex(productID))\", TAG+=\"uaccess\", ENV{ID_MM_PORT_IGNORE}=\"1\""
    }
    if usbPath != nil {
      return "SUBSYSTEM==\"usb\", ATTR{idVendor}==\"\(hex(vendorID))\", "
        + "ATTR{idProduct}==\"\(hex(productID))\", TAG+=\"uaccess\""
    }
    // Prefer the kernel's name, because it contains the bus number even if `bus` is unknown.
    let own = String(kernelName.prefix { $0 != "." })
    let isWhole = own.split(separator: ":").count == 3
    let numbers = "\(bus.kernelNumber):\(hex(vendorID)):\(hex(productID))".uppercased()
    let device = "\(isWhole ? own : numbers).*"
    return "KERNEL==\"hidraw*\", KERNELS==\"\(device)\", TAG+=\"uaccess\""
  }

  /// Why the tracker cannot be used; nil if it can.
  public var accessError: HeadTrackingError? {
    switch access {
    case .ready: nil
    case .permissionDenied where isSerialPort:
      .portPermissionDenied(path: path, udevRule: udevRule)
    case .permissionDenied: .permissionDenied(path: path, udevRule: accessRule)
    case .failed(let reason): .cannotOpen(path: path, reason: reason)
    case .heldByKernel(let driver): .heldByKernel(name: name, driver: driver)
    }
  }

  func isSameDevice(as other: TrackerDescription) -> Bool {
    vendorID == other.vendorID && productID == other.productID && serial == other.serial
  }
}

private func hex(_ number: UInt16) -> String { number.hex }

extension UInt16 {
  /// The number as four hexadecimal digits.
  package var hex: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }
}

/// What the decoding of a tracker's reports was verified with.
public enum TrackerEvidence: String, Sendable, Equatable {
  /// The tracker itself.
  case hardware
  /// Packets that other people captured from trackers of the same model.
  case captures
  /// Only descriptions of the protocol.
  case documentation
}

/// The bus that connects a tracker.
public enum TrackerBus: String, Sendable, Equatable {
  case usb
  case bluetooth
  case i2c
  case spi
  /// The kernel's industrial I/O subsystem (IIO).
  case iio
  /// A serial port that is not on USB.
  case serial
  /// TCP or UDP.
  case network
  case unknown

  /// Creates a bus from a number such as BUS_USB in linux/input.h.
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

  /// The kernel's number for the bus, in four hexadecimal digits, as in the names of HID devices.
  /// It is the number for USB if the bus is unknown or cannot connect HID devices.
  var kernelNumber: String {
    switch self {
    case .bluetooth: "0005"
    case .i2c: "0018"
    case .spi: "001C"
    case .usb, .iio, .serial, .network, .unknown: "0003"
    }
  }
}
