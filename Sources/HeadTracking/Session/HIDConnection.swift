// SPDX-License-Identifier: Apache-2.0

import CRealtime

/// A HID tracker that is open and started.
struct HIDConnection: TrackerConnection {
  private let device: HIDDevice
  private var driver: any TrackerDriver
  private var buffer: [UInt8]

  /// hidraw keeps the oldest 63 reports: a queue that was full ends long before now.
  private static let fullQueue = 60
  private static let mostAtOnce = 4096

  /// - Throws: what the device refuses.
  init(
    _ node: HIDNode, _ settings: TrackerSettings
  ) throws(HeadTrackingError) {
    let device: HIDDevice
    do throws(HIDOpenFailure) {
      device = try HIDDevice(path: node.path)
    } catch {
      throw .cannotOpen(path: node.path, reason: errorText(error.error))
    }
    guard let model = TrackerModel.find(node, settings) else {
      throw .notAHeadTracker(path: node.path, reason: "no driver knows it")
    }
    let context = TrackerContext(
      node: node, device: device, settings: settings, nodes: HIDNode.all())
    self.device = device
    driver = try model.open(context)
    try driver.start(device)
    buffer = [UInt8](repeating: 0, count: max(64, driver.inputLength))
  }

  var keepsReference: Bool { driver.keepsReference }

  mutating func restart() { try? driver.start(device) }

  mutating func close() { driver.stop(device) }

  mutating func listen(timeoutMilliseconds: Int) -> TrackerNews {
    driver.keepAlive(device, now: monotonic_nanoseconds())
    var readings: [TrackerReading] = []
    var rejected = 0
    var count = 0
    while count < Self.mostAtOnce {
      switch device.read(into: &buffer, timeoutMilliseconds: count == 0 ? timeoutMilliseconds : 0) {
      case .gone: return .gone
      case .nothing:
        if count == 0 { return .nothing }
        return .readings(Self.newest(readings, count), rejected: rejected)
      case .report(let length):
        count += 1
        let report = Array(buffer.prefix(length))
        if let found = driver.decode(report, arrival: monotonic_nanoseconds()) {
          readings += found
        } else {
          rejected += 1
        }
      }
    }
    return .readings([], rejected: rejected)
  }

  /// Of fused orientations only the newest is of use after a stall of this thread, and not even
  /// that one when the queue was full. Raw readings are all needed, and carry their own times.
  private static func newest(_ readings: [TrackerReading], _ count: Int) -> [TrackerReading] {
    guard count > 1 else { return readings }
    let last = readings.lastIndex { if case .head = $0 { true } else { false } }
    return readings.indices.filter { index in
      guard case .head = readings[index] else { return true }
      return index == last && count < fullQueue
    }.map { readings[$0] }
  }
}
