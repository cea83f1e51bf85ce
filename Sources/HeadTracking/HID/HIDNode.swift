// SPDX-License-Identifier: Apache-2.0

import System

/// A hidraw node and the kernel's information about its device.
///
/// The information comes from sysfs, which can be read without special permission. In hidapi
/// 0.13.1, `hid_enumerate` reads the same files, but can crash if a device is unplugged at that
/// moment (hidapi pull request 580).
struct HIDNode: Sendable, Equatable {
  /// The device file, such as `/dev/hidraw0`. For other paths, see `HeldTracker.node`.
  var path: String
  var vendorID: UInt16
  var productID: UInt16
  var serial: String
  var manufacturer: String
  var product: String
  var bus: TrackerBus
  /// The number of the USB interface; -1 if it is unknown or the bus is not USB.
  var interface: Int
  /// The usages of the top-level collections; empty if the report descriptor cannot be read.
  var usages: [HIDUsage]
  /// The name of the kernel's folder for the device, such as `0003:054C:0CE6.0001`.
  var kernelName = ""
  /// The report descriptor, if it must be known before the device is opened; otherwise empty.
  var descriptor: [UInt8] = []

  /// Returns all nodes, ordered by number. A node that disappears during the search is omitted.
  static func all(in folder: String = "/sys/class/hidraw") -> [HIDNode] {
    let mark = "hidraw"
    let numbers = (SystemFile.names(in: folder) ?? []).filter { $0.hasPrefix(mark) }
      .compactMap { Int($0.dropFirst(mark.count)) }
    return numbers.sorted().compactMap { HIDNode("\(mark)\($0)", in: folder) }
  }
}

extension HIDNode {
  /// Reads the information about a node. Returns nil if the node has no valid `HID_ID`, for example
  /// because the device is gone.
  private init?(_ name: String, in folder: String) {
    let link = "\(folder)/\(name)/device"
    self.init(device: SystemFile.resolved(link) ?? link, path: "/dev/\(name)")
  }

  /// Reads the information about a HID device from its folder in sysfs. Returns nil if the folder
  /// has no valid `HID_ID`.
  ///
  /// - Parameters:
  ///   - device: the folder in sysfs.
  ///   - path: the path of the node.
  init?(device: String, path: String) {
    let values = SystemFile.values(device + "/uevent")
    // Bus, vendor and product, such as 0003:000005AC:00008242.
    let id = (values["HID_ID"] ?? "").split(separator: ":").compactMap { UInt32($0, radix: 16) }
    guard id.count == 3 else { return nil }
    let descriptor = try? SystemFile.contents(device + "/report_descriptor")
    let bus = TrackerBus(kernelNumber: id[0])
    // The parent of a Bluetooth device is the adapter, whose strings do not describe the device.
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

  /// Returns the nearest folder above `folder` that contains a nonempty file of the given name, or
  /// nil if there is none.
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

  /// Returns the trimmed text without control characters, because a device could use them to
  /// manipulate a terminal. The result has at most 256 scalars. It is empty for nil.
  private static func cleaned(_ text: String?) -> String {
    let scalars = (text ?? "").unicodeScalars.lazy.filter {
      $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
    }
    return String(String.UnicodeScalarView(scalars.prefix(256))).trimmingBlanks
  }
}

extension SystemFile {
  /// Returns the keys and values of a file with lines such as `DRIVER=hid-generic`. If a key is
  /// repeated, its first value counts. The dictionary is empty if the file cannot be read.
  static func values(_ file: String) -> [String: String] {
    guard let bytes = try? contents(file) else { return [:] }
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    let pairs = lines.map {
      $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    }
    return Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { first, _ in first }
  }

  /// Returns the last value of a key; nil if there is none. In a `uevent` file, a device's name can
  /// contain line breaks and thus imitate lines of the kernel. The kernel's own lines follow later.
  static func lastValue(of key: String, in file: String) -> String? {
    guard let bytes = try? contents(file) else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    return lines.last { $0.hasPrefix(key + "=") }.map { String($0.dropFirst(key.count + 1)) }
  }
}
