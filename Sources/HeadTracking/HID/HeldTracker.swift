// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

/// A head tracker that has no hidraw node because the kernel's driver `hid-sensor-hub` holds it.
///
/// From Linux 6.5 on, head trackers keep their hidraw nodes.
struct HeldTracker {
  static let driver = "hid-sensor-hub"

  /// The device. Its path is the name of its USB interface, such as `1-2:1.3`. If hidapi cannot
  /// open the device through libusb, the path is the device's folder in sysfs.
  var node: HIDNode
  /// The file of the USB device, such as `/dev/bus/usb/001/004`; nil if the path of `node` is a
  /// folder.
  var usbFile: String?

  /// Returns the held head trackers, in the order of the kernel's names for them.
  static func all(in folder: String = "/sys/bus/hid/devices") -> [HeldTracker] {
    (SystemFile.names(in: folder) ?? []).sorted().compactMap { HeldTracker("\(folder)/\($0)") }
  }

  private init?(_ link: String) {
    let device = SystemFile.resolved(link) ?? link
    guard SystemFile.values(device + "/uevent")["DRIVER"] == Self.driver,
      SystemFile.names(in: device + "/hidraw")?.isEmpty != false,
      let bytes = try? SystemFile.contents(device + "/report_descriptor"),
      HIDReportDescriptor(bytes).collections.contains(AndroidHeadTracker.usage),
      var node = HIDNode(device: device, path: device)
    else { return nil }
    node.descriptor = bytes
    if node.bus == .usb, HIDBackend.libusb != nil, let interface = Self.interface(above: device) {
      node.path = interface.name
      usbFile = interface.file
    }
    self.node = node
  }

  /// Returns the name of the USB interface and the file of the USB device; nil if unknown.
  private static func interface(above device: String) -> (name: String, file: String)? {
    let folder = device.split(separator: "/").dropLast().map(String.init)
    guard let name = folder.last, name.contains(":") else { return nil }
    let usb = "/" + folder.dropLast().joined(separator: "/")
    guard let bus = number(usb + "/busnum"), let device = number(usb + "/devnum") else {
      return nil
    }
    return (name, "/dev/bus/usb/\(padded(bus))/\(padded(device))")
  }

  private static func number(_ file: String) -> Int? {
    guard let bytes = try? SystemFile.contents(file) else { return nil }
    return Int(String(decoding: bytes, as: UTF8.self).trimmingBlanks)
  }

  private static func padded(_ number: Int) -> String {
    String(repeating: "0", count: max(0, 3 - "\(number)".count)) + "\(number)"
  }

  /// The entry in the list of trackers. The device is not asked for a description, because opening
  /// it would detach the kernel's driver.
  var description: TrackerDescription {
    var tracker = TrackerDescription(
      node, kind: .head, access: .heldByKernel(driver: Self.driver))
    if let usbFile {
      tracker.usbPath = node.path
      tracker.access = access(usbFile, R_OK | W_OK) == 0 ? .ready : .permissionDenied
    }
    return tracker
  }
}

extension TrackerDescription {
  /// Describes a HID device from the kernel's information alone.
  init(_ node: HIDNode, kind: TrackerKind, access: Access) {
    self.init(
      path: node.path, vendorID: node.vendorID, productID: node.productID, serial: node.serial,
      manufacturer: node.manufacturer, product: node.product, bus: node.bus,
      protocolDescription: "", kind: kind, access: access, id: node.path)
    kernelName = node.kernelName
  }
}
