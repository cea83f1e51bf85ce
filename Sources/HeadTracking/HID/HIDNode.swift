// SPDX-License-Identifier: Apache-2.0

import System

/// A hidraw node or held tracker (`HeldTracker`), with the kernel's information about the device.
///
/// The information is read from sysfs. `hid_enumerate` is not used, because in hidapi 0.13.1 it can
/// crash if a device is unplugged during the call (hidapi pull request 580).
struct HIDNode: Sendable, Equatable {
  /// The device file, such as `/dev/hidraw0`; for a held tracker, see `HeldTracker.node`.
  var path: String
  var vendorID: UInt16
  var productID: UInt16
  var serial: String
  var manufacturer: String
  var product: String
  var bus: TrackerBus
  /// The number of the USB interface; -1 if it is unknown or the bus is not USB.
  var interface: Int
  /// The usages of the top-level collections.
  var usages: [HIDUsage]
  /// The kernel's name for the device, such as `0003:054C:0CE6.0001`.
  var kernelName = ""
  /// The report descriptor of a held tracker; empty for other devices.
  var descriptor: [UInt8] = []

  /// Returns the hidraw nodes that have a valid `HID_ID`, in the order of their numbers.
  static func all(in folder: String = "/sys/class/hidraw") -> [HIDNode] {
    let mark = "hidraw"
    let numbers = (SystemFile.names(in: folder) ?? []).filter { $0.hasPrefix(mark) }
      .compactMap { Int($0.dropFirst(mark.count)) }
    return numbers.sorted().compactMap { HIDNode("\(mark)\($0)", in: folder) }
  }
}

extension HIDNode {
  /// Returns nil if the device's `uevent` file contains no valid `HID_ID`.
  private init?(_ name: String, in folder: String) {
    let link = "\(folder)/\(name)/device"
    self.init(device: SystemFile.resolved(link) ?? link, path: "/dev/\(name)")
  }

  /// Reads the information from the device's folder in sysfs; nil if the `uevent` file contains no
  /// valid `HID_ID`.
  init?(device: String, path: String) {
    let values = SystemFile.values(device + "/uevent")
    // Bus, vendor and product, such as 0003:000005AC:00008242.
    let id = (values["HID_ID"] ?? "").split(separator: ":").compactMap { UInt32($0, radix: 16) }
    guard id.count == 3 else { return nil }
    let descriptor = try? SystemFile.contents(device + "/report_descriptor")
    let bus = TrackerBus(kernelNumber: id[0])
    // The folders above a Bluetooth device belong to the adapter, so they do not describe the
    // device.
    let usb = bus == .usb ? device : nil
    let maker = usb.flatMap { Self.nearest(to: $0, with: "idVendor") }
    let interface = usb.flatMap { Self.nearest(to: $0, with: "bInterfaceNumber") }
    self.init(
      path: path, vendorID: UInt16(truncatingIfNeeded: id[1]),
      productID: UInt16(truncatingIfNeeded: id[2]),
      serial: Self.cleaned(SystemFile.lastValue(of: "HID_UNIQ", in: device + "/uevent")),
      manufacturer: Self.cleaned(maker.flatMap { Self.text($0 + "/manufacturer") }),
      product: Self.cleaned(maker.flatMap { Self.text($0 + "/product") } ?? values["HID_NAME"]),
      bus: bus,
      interface: interface.flatMap { Int(Self.text($0 + "/bInterfaceNumber") ?? "", radix: 16) }
        ?? -1,
      usages: HIDReportDescriptor(descriptor ?? []).applications,
      kernelName: device.split(separator: "/").last.map(String.init) ?? "")
  }

  /// Returns the nearest folder above `folder` with a nonempty file of the given name.
  private static func nearest(to folder: String, with file: String) -> String? {
    var parts = folder.split(separator: "/")
    while parts.popLast() != nil, !parts.isEmpty {
      let path = parts.map { "/" + $0 }.joined()
      if text("\(path)/\(file)") != nil { return path }
    }
    return nil
  }

  private static func text(_ file: String) -> String? {
    guard let bytes = try? SystemFile.contents(file), !bytes.isEmpty else { return nil }
    return String(decoding: bytes, as: UTF8.self).trimmingBlanks
  }

  /// Returns at most 256 scalars of the text, trimmed. Removes control characters, which could
  /// manipulate a terminal.
  private static func cleaned(_ text: String?) -> String {
    let scalars = (text ?? "").unicodeScalars.lazy.filter {
      $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
    }
    return String(String.UnicodeScalarView(scalars.prefix(256))).trimmingBlanks
  }
}

extension SystemFile {
  /// Returns the keys and values of a file with lines such as `DRIVER=hid-generic`. The first value
  /// of a key counts.
  static func values(_ file: String) -> [String: String] {
    guard let bytes = try? contents(file) else { return [:] }
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    let pairs = lines.map {
      $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    }
    return Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { first, _ in first }
  }

  /// Returns the last value of a key; nil if there is none. A device's name can contain a line
  /// break and a false `HID_UNIQ`, but the kernel writes the true `HID_UNIQ` after the name.
  static func lastValue(of key: String, in file: String) -> String? {
    guard let bytes = try? contents(file) else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    return lines.last { $0.hasPrefix(key + "=") }.map { String($0.dropFirst(key.count + 1)) }
  }
}
