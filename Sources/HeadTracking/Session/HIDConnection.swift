// SPDX-License-Identifier: Apache-2.0

import CRealtime
import System

struct HIDConnection: TrackerConnection {
  private let device: HIDDevice
  private var driver: any TrackerDriver
  private var buffer: [UInt8]
  private let capture: FrameCapture?

  init(
    _ node: HIDNode, _ settings: TrackerSettings
  ) throws(HeadTrackingError) {
    let device: HIDDevice
    do throws(SystemError) {
      device = try HIDDevice(node)
    } catch {
      throw .cannotOpen(path: node.path, reason: error.description)
    }
    guard let model = TrackerModel.find(node, settings) else {
      throw .notAHeadTracker(path: node.path, reason: "no driver supports it")
    }
    let context = TrackerContext(
      node: node, device: device, settings: settings, nodes: HIDNode.all())
    self.device = device
    capture = settings.capture
    capture?.source =
      settings.profiles.first { $0.matches(node) }.map { "profile:\($0.name)" }
      ?? "hid:\(node.vendorID.hex):\(node.productID.hex)"
    driver = try model.open(context)
    try driver.start(device)
    buffer = [UInt8](repeating: 0, count: max(64, driver.inputLength))
  }

  var keepsReference: Bool { driver.keepsReference }

  mutating func restart() { try? driver.start(device) }

  mutating func close() { driver.stop(device) }

  mutating func listen(timeoutMilliseconds: Int) -> TrackerNews {
    driver.keepAlive(device, now: monotonic_nanoseconds())
    return ReportBurst(clock: monotonic_nanoseconds) { isFirst in
      switch device.read(into: &buffer, timeoutMilliseconds: isFirst ? timeoutMilliseconds : 0) {
      case .gone: .gone
      case .nothing: .nothing
      case .report(let length): decoded(Array(buffer.prefix(length)))
      }
    }.news
  }

  private mutating func decoded(_ report: [UInt8]) -> ReportBurst.Report {
    let arrival = monotonic_nanoseconds()
    capture?.add(report, .received, time: arrival)
    return driver.decode(report, arrival: arrival).map(ReportBurst.Report.readings) ?? .nonsense
  }
}
