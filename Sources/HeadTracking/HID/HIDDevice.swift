// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

protocol HIDFeatures {
  /// Reads a feature report. The report begins with its ID, or with 0 if the device does not number
  /// its reports. `length` is the maximum length in bytes, including the ID.
  func feature(id: UInt8, length: Int) throws(HeadTrackingError) -> [UInt8]
  func setFeature(_ report: [UInt8]) throws(HeadTrackingError)
}

/// An open hidraw node or USB interface, for one thread at a time.
final class HIDDevice: TrackerLink {
  enum ReadResult {
    case report(length: Int)
    case nothing
    case gone
  }

  let path: String
  private let backend: HIDBackend
  private let handle: OpaquePointer
  /// The report descriptor of a held tracker; empty for other devices.
  private let descriptor: [UInt8]

  /// Opens a node. Opening a USB interface detaches the kernel's driver until the device is closed.
  init(_ node: HIDNode) throws(SystemError) {
    (path, descriptor) = (node.path, node.descriptor)
    if node.path.hasPrefix("/") {
      backend = .hidraw
    } else if let libusb = HIDBackend.libusb {
      backend = libusb
    } else {
      throw SystemError(number: ENODEV)
    }
    handle = try backend.open(node.path)
  }

  deinit { backend.close(handle) }

  /// Reads one input report. Returns `nothing` after the timeout, and `gone` on an error.
  func read(into buffer: inout [UInt8], timeoutMilliseconds: Int) -> ReadResult {
    let length = buffer.withUnsafeMutableBufferPointer {
      backend.read(handle, $0.baseAddress, $0.count, Int32(timeoutMilliseconds))
    }
    if length < 0 { return .gone }
    return length == 0 ? .nothing : .report(length: Int(length))
  }

  func feature(id: UInt8, length: Int) throws(HeadTrackingError) -> [UInt8] {
    var report = [UInt8](repeating: 0, count: max(2, length))
    report[0] = id
    errno = 0
    let count = backend.getFeature(handle, &report, report.count)
    guard count > 0 else {
      throw .featureFailed(report: Int(id), reason: errorText(errno))
    }
    return Array(report.prefix(Int(count)))
  }

  func setFeature(_ report: [UInt8]) throws(HeadTrackingError) {
    errno = 0
    guard backend.sendFeature(handle, report, report.count) >= 0 else {
      throw .featureFailed(report: Int(report.first ?? 0), reason: errorText(errno))
    }
  }

  func write(_ report: [UInt8]) throws(HeadTrackingError) {
    errno = 0
    guard backend.write(handle, report, report.count) >= 0 else {
      throw .featureFailed(report: Int(report.first ?? 0), reason: errorText(errno))
    }
  }

  var kernelDriver: String { SystemFile.values(systemFolder + "/uevent")["DRIVER"] ?? "" }

  private var systemFolder: String {
    let node = path.split(separator: "/").last.map(String.init) ?? path
    return "/sys/class/hidraw/\(node)/device"
  }

  /// Returns the report descriptor from the node or, if it is empty there, from sysfs.
  func reportDescriptor() throws(HeadTrackingError) -> HIDReportDescriptor {
    if !descriptor.isEmpty { return HIDReportDescriptor(descriptor) }
    // `contents` reads at most 4096 bytes by default. This is also the kernel's limit for the
    // descriptor (HID_MAX_DESCRIPTOR_SIZE).
    let file = systemFolder + "/report_descriptor"
    do throws(SystemError) { return HIDReportDescriptor(try SystemFile.contents(file)) } catch {
      throw .cannotOpen(path: file, reason: error.description)
    }
  }
}

extension String {
  var trimmingBlanks: String {
    var text = self[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
