// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

/// The HID trackers, on USB, Bluetooth or another bus.
struct HIDTrackers: TrackerProvider {
  let settings: TrackerSettings

  func trackers(detailed: Bool) -> [TrackerDescription] {
    let nodes = HIDNode.all()
    return nodes.compactMap { describe($0, nodes) }
  }

  func connect(
    _ tracker: TrackerDescription, isCalibrated: Bool
  ) throws(HeadTrackingError) -> any TrackerConnection {
    guard let node = HIDNode.all().first(where: { $0.path == tracker.path }) else {
      throw .cannotOpen(path: tracker.path, reason: errorText(ENODEV))
    }
    return try HIDConnection(node, settings)
  }

  /// Returns the description of a node, or nil if the node is not a tracker or is gone.
  private func describe(_ node: HIDNode, _ nodes: [HIDNode]) -> TrackerDescription? {
    guard let model = TrackerModel.find(node, settings) else { return nil }
    var tracker = TrackerDescription(
      path: node.path, vendorID: node.vendorID, productID: node.productID, serial: node.serial,
      manufacturer: node.manufacturer, product: node.product, bus: node.bus,
      protocolDescription: "", kind: model.kind, access: .ready, id: node.path)
    do {
      let device = try HIDDevice(path: node.path)
      let context = TrackerContext(node: node, device: device, settings: settings, nodes: nodes)
      tracker.protocolDescription = try model.open(context).protocolDescription
    } catch let failure as SystemError {
      // The device was unplugged after it was listed.
      if [ENOENT, ENODEV, ENXIO].contains(failure.number) { return nil }
      tracker.access =
        failure.number == EACCES || failure.number == EPERM
        ? .permissionDenied : .failed(failure.description)
    } catch HeadTrackingError.notAHeadTracker {
      return nil
    } catch {
      tracker.access = .failed("\(error)")
    }
    return tracker
  }
}
