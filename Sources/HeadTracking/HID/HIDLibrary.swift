// SPDX-License-Identifier: Apache-2.0

import CHIDAPI
import Synchronization

/// The process-wide part of hidapi. Its enumeration and opening share global state (the error
/// text), so only one thread at a time goes through here.
enum HIDLibrary {
  private static let lock = Mutex<Bool>(false)

  /// A hidraw node with everything its collections say.
  struct Node: Sendable {
    var path: String
    var vendorID: UInt16
    var productID: UInt16
    var serial: String
    var manufacturer: String
    var product: String
    var bus: TrackerBus
    /// The USB interface; -1 elsewhere.
    var interface: Int
    /// One for each collection that carries a usage: hidapi lists the node once for each.
    var usages: [HIDUsage]
  }

  /// All HID devices, each once, in hidapi's order. Needs no permission.
  static func nodes() -> [Node] {
    lock.withLock { isReady in
      prepare(&isReady)
      let before = hid_names_begin()
      defer { hid_names_end(before) }
      guard let list = hid_enumerate(0, 0) else { return [] }
      defer { hid_free_enumeration(list) }
      var nodes: [Node] = []
      var places: [String: Int] = [:]
      var next: UnsafeMutablePointer<hid_device_info>? = list
      while let info = next?.pointee {
        next = info.next
        guard let path = info.path.map({ String(cString: $0) }) else { continue }
        let usage = HIDUsage(page: info.usage_page, usage: info.usage)
        if let place = places[path] {
          nodes[place].usages.append(usage)
        } else {
          places[path] = nodes.count
          nodes.append(node(info, path: path, usage: usage))
        }
      }
      return nodes
    }
  }

  private static func node(_ info: hid_device_info, path: String, usage: HIDUsage) -> Node {
    Node(
      path: path, vendorID: info.vendor_id, productID: info.product_id,
      serial: text(info.serial_number), manufacturer: text(info.manufacturer_string),
      product: text(info.product_string), bus: TrackerBus(info.bus_type),
      interface: Int(info.interface_number), usages: [usage])
  }

  /// Opens a node, after asking the kernel whether that can be done.
  static func open(_ path: String) throws(HIDOpenFailure) -> OpaquePointer {
    let result: Result<OpaquePointer, HIDOpenFailure> = lock.withLock { isReady in
      prepare(&isReady)
      let error = hidraw_check(path)
      guard error == 0 else { return .failure(HIDOpenFailure(error: error)) }
      guard let handle = hid_open_path(path) else { return .failure(HIDOpenFailure(error: EIO)) }
      nonisolated(unsafe) let opened = handle
      return .success(opened)
    }
    return try result.get()
  }

  private static func prepare(_ isReady: inout Bool) {
    if !isReady { isReady = hid_init() == 0 }
  }

  /// The name without the control characters a device could smuggle into a terminal.
  private static func text(_ wide: UnsafePointer<wchar_t>?) -> String {
    guard var at = wide else { return "" }
    var scalars = String.UnicodeScalarView()
    while at.pointee != 0, scalars.count < 256 {
      if let scalar = Unicode.Scalar(UInt32(bitPattern: at.pointee)),
        scalar.value >= 0x20, !(0x7F...0x9F).contains(scalar.value)
      {
        scalars.append(scalar)
      }
      at += 1
    }
    return String(scalars).trimmingBlanks
  }
}

/// The errno that kept a node from being opened.
struct HIDOpenFailure: Error {
  var error: Int32
}

extension String {
  var trimmingBlanks: String {
    var text = self[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
