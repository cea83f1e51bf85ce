// SPDX-License-Identifier: Apache-2.0

import Glibc
import System
import TestSupport
import Testing

@testable import HeadTracking

/// Tests folders that imitate /sys: existing files are read, and missing ones do no harm.
@Suite struct HIDNodeTests {
  private final class Tree: FileTree {
    var nodes: String { root + "/class" }

    override init() throws {
      try super.init()
      try folder("class")
    }

    /// Creates a node whose device folder is `place`.
    func node(_ number: Int, at place: String, id: String, name: String, serial: String = "")
      throws
    {
      let entry = "\(place)/hidraw/hidraw\(number)"
      try folder(entry)
      link("class/hidraw\(number)", to: entry)
      link(entry + "/device", to: place)
      write(place + "/uevent", "DRIVER=any\nHID_ID=\(id)\nHID_NAME=\(name)\nHID_UNIQ=\(serial)")
      // A gamepad (generic desktop page) and a head tracker (sensor page).
      write(
        place + "/report_descriptor",
        [0x05, 0x01, 0x09, 0x05, 0xA1, 0x01, 0xC0, 0x05, 0x20, 0x09, 0xE1, 0xA1, 0x01, 0xC0])
    }
  }

  private let usages = [HIDUsage(page: 1, usage: 5), HIDUsage(page: 0x20, usage: 0xE1)]

  @Test func usbDeviceTakesItsOwnStringsNotThoseOfItsHub() throws {
    let tree = try Tree()
    for (index, device) in ["hub/1-1", "hub/1-2"].enumerated() {
      let interface = "\(device)/\(device.split(separator: "/")[1]):1.3"
      try tree.node(
        index, at: "\(interface)/0003:054C:0CE6.000\(index)", id: "0003:0000054C:00000CE6",
        name: "Maker Thing", serial: "S\(index)")
      tree.write(interface + "/bInterfaceNumber", "03")
      tree.write(device + "/idVendor", "054c")
    }
    tree.write("hub/idVendor", "1d6b")
    tree.write("hub/product", "Hub")
    tree.write("hub/manufacturer", "Hubs and Sons")
    tree.write("hub/1-1/product", "Kopfhörer\u{1B}[2J 頭 ")
    tree.write("hub/1-1/manufacturer", "Maker")
    let first = HIDNode(
      path: "/dev/hidraw0", vendorID: 0x54C, productID: 0xCE6, serial: "S0",
      manufacturer: "Maker", product: "Kopfhörer[2J 頭", bus: .usb, interface: 3, usages: usages,
      kernelName: "0003:054C:0CE6.0000")
    var second = first
    (second.path, second.serial) = ("/dev/hidraw1", "S1")
    (second.manufacturer, second.product) = ("", "Maker Thing")
    second.kernelName = "0003:054C:0CE6.0001"
    #expect(HIDNode.all(in: tree.nodes) == [first, second])
  }

  @Test func bluetoothAndI2CDevicesAreNamedByTheKernel() throws {
    let tree = try Tree()
    let adapter = "usb3/3-1"
    try tree.node(
      11, at: "\(adapter)/3-1:1.0/bluetooth/hci0/hci0:70/0005:057E:2009.0001",
      id: "0005:0000057E:00002009", name: "Pad = a pad",
      serial: "aa:bb")
    tree.write(adapter + "/idVendor", "0a12")
    tree.write(adapter + "/product", "Adapter")
    tree.write(adapter + "/manufacturer", "Radio Inc.")
    tree.write(adapter + "/3-1:1.0/bInterfaceNumber", "00")
    try tree.node(2, at: "virtual/0018:1.2", id: "0018:00000001:FFFF0002", name: "Touch")
    let nodes = HIDNode.all(in: tree.nodes)
    #expect(nodes.map(\.path) == ["/dev/hidraw2", "/dev/hidraw11"])
    #expect(nodes.map(\.bus) == [.i2c, .bluetooth])
    #expect(nodes.map(\.product) == ["Touch", "Pad = a pad"])
    #expect(nodes.map(\.manufacturer) == ["", ""])
    #expect(nodes.map(\.productID) == [2, 0x2009])
    #expect(nodes.map(\.serial) == ["", "aa:bb"])
    #expect(nodes.map(\.interface) == [-1, -1])
    #expect(nodes.map(\.usages) == [usages, usages])
  }

  /// The name of a device comes before the lines that the kernel adds.
  @Test func nameWithLineBreaksDoesNotReplaceTheSerialNumberOrTheID() throws {
    let tree = try Tree()
    try tree.node(
      0, at: "d/0006:1234:ABCD.0001", id: "0006:00001234:0000ABCD",
      name: "Head\nHID_UNIQ=forged\nHID_ID=0003:0000054C:00000CE6", serial: "own")
    let node = try #require(HIDNode.all(in: tree.nodes).first)
    #expect(node.serial == "own" && node.vendorID == 0x1234 && node.product == "Head")
    let tracker = TrackerDescription(node, kind: .head, access: .permissionDenied)
    #expect(tracker.udevRule?.contains("KERNELS==\"0006:1234:ABCD.*\"") == true)
  }

  /// Creates a head tracker that a driver of the kernel holds, in a folder as in /sys/bus/hid.
  private func held(
    _ tree: Tree, at place: String, driver: String = "hid-sensor-hub", hasNode: Bool = false,
    descriptor: [UInt8] = [0x05, 0x20, 0x09, 0xE1, 0xA1, 0x00, 0xC0]
  ) throws {
    try tree.folder("bus")
    try tree.folder(place)
    let name = place.split(separator: "/").last.map(String.init) ?? ""
    tree.link("bus/" + name, to: place)
    tree.write(
      place + "/uevent",
      "DRIVER=\(driver)\nHID_ID=0005:0000054C:00000DF0\nHID_NAME=Head\nHID_UNIQ=x")
    tree.write(place + "/report_descriptor", descriptor)
    if hasNode { try tree.folder(place + "/hidraw/hidraw3") }
  }

  @Test func headTrackersWithoutNodeThatTheSensorHubHoldsAreFound() throws {
    let tree = try Tree()
    try held(tree, at: "hci0/0005:054C:0DF0.0001")
    // A nested collection: the sensor collection (0x01) contains the head tracker.
    try held(
      tree, at: "hci0/0005:054C:0DF0.0002",
      descriptor: [0x05, 0x20, 0x09, 0x01, 0xA1, 0x00, 0x09, 0xE1, 0xA1, 0x00, 0xC0, 0xC0])
    try held(tree, at: "hci0/0005:054C:0DF0.0003", driver: "hid-generic")
    try held(tree, at: "hci0/0005:054C:0DF0.0004", hasNode: true)
    try held(
      tree, at: "hci0/0005:054C:0DF0.0005", descriptor: [0x05, 0x20, 0x09, 0x73, 0xA1, 0x00, 0xC0])
    let found = HeldTracker.all(in: tree.root + "/bus").map(\.description)
    #expect(found.map(\.kernelName) == ["0005:054C:0DF0.0001", "0005:054C:0DF0.0002"])
    let first = try #require(found.first)
    #expect(first.kind == .head && first.access == .heldByKernel(driver: "hid-sensor-hub"))
    let text = first.accessError.map { "\($0)" } ?? ""
    #expect(text.contains("modprobe -r hid_sensor_custom hid_sensor_hub"))
    #expect(text.contains("holds Head") && text.contains("6.5"))
    #expect(HeldTracker.all(in: tree.root + "/missing").isEmpty)
  }

  /// A tracker on USB is opened without the kernel's driver.
  @Test func heldTrackerOnUSBIsOpenedOverItsInterface() throws {
    let tree = try Tree()
    let place = "usb1/1-2/1-2:1.3/0003:054C:0DF0.0001"
    try held(tree, at: place)
    tree.write(
      place + "/uevent", "DRIVER=hid-sensor-hub\nHID_ID=0003:0000054C:00000DF0\nHID_NAME=Head")
    tree.write("usb1/1-2/busnum", "1\n")
    tree.write("usb1/1-2/devnum", "250\n")
    let held = try #require(HeldTracker.all(in: tree.root + "/bus").first)
    guard HIDBackend.libusb != nil else {
      #expect(held.usbFile == nil)
      return
    }
    #expect(held.node.path == "1-2:1.3" && held.usbFile == "/dev/bus/usb/001/250")
    // There is no such device, so it cannot be opened.
    let tracker = held.description
    #expect(tracker.access == .permissionDenied)
    #expect(
      tracker.udevRule
        == "SUBSYSTEM==\"usb\", ATTR{idVendor}==\"054c\", ATTR{idProduct}==\"0df0\", "
        + "TAG+=\"uaccess\"")
    #expect(throws: SystemError(number: EIO)) { try HIDDevice(held.node) }
  }

  @Test func damagedEntriesAreLeftOutOrEmpty() throws {
    let tree = try Tree()
    tree.link("class/hidraw0", to: "nowhere")
    try tree.folder("class/hidraw1")
    try tree.folder("class/hidraw2/device")
    tree.write("class/hidraw2/device/uevent", [0xFF, 0x00, 0x3D, 0x0A, 0x3D])
    for (index, id) in ["", "0003", "0003:054C", "3:x:y", "0003:100000000:1"].enumerated() {
      try tree.node(3 + index, at: "damaged\(index)", id: id, name: "none")
    }
    try tree.node(20, at: "name", id: "0003:00000001:00000002", name: "")
    tree.write(
      "name/uevent",
      Array("HID_ID=0003:1:2\nHID_UNIQ=1\r\nHID_NAME=a".utf8) + [0xE9, 0x07, 0x62, 0x0A])
    tree.write("name/report_descriptor", [UInt8](repeating: 0xFE, count: 9000))
    for name in ["hidraw", "hidrawx", "hidraw-1", "mouse0"] { try tree.folder("class/" + name) }
    let nodes = HIDNode.all(in: tree.nodes)
    #expect(nodes.map(\.path) == ["/dev/hidraw20"])
    #expect(nodes.first?.product == "a\u{FFFD}b")
    #expect(nodes.first?.serial == "1")
    #expect(HIDNode.all(in: tree.root + "/missing").isEmpty)
  }

  /// hidapi's own enumeration crashes the program in this case.
  @Test func enumerationSurvivesDisappearingDevices() throws {
    let tree = try Tree()
    try tree.node(0, at: "a/b", id: "0003:00000001:00000002", name: "Thing", serial: "1")
    let (place, away) = (tree.root + "/a", tree.root + "/away")
    let script =
      "import os\nwhile True: os.rename('\(place)', '\(away)'); os.rename('\(away)', '\(place)')"
    let mover = try RunningProgram(["/usr/bin/python3", "-c", script])
    defer { kill(mover.pid, SIGKILL) }
    var found = [0, 0]
    for _ in 0..<5000 { found[min(1, HIDNode.all(in: tree.nodes).count)] += 1 }
    print("a device that comes and goes: away \(found[0]) times, there \(found[1]) times")
    #expect(found[0] > 0 && found[1] > 0)
  }
}
