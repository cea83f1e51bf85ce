// SPDX-License-Identifier: Apache-2.0

import CHIDAPI
import Glibc
import System

/// A list of the connected trackers: head trackers, game controllers and the computer's own
/// sensors.
public struct TrackerList: Sendable {
  public private(set) var trackers: [TrackerDescription]

  /// Returns the trackers that are connected now. This inspects every HID device and industrial I/O
  /// sensor, and opens the HID devices that may be trackers, which takes a few milliseconds.
  public static func current(_ settings: TrackerSettings = TrackerSettings()) -> TrackerList {
    let nodes = HIDNode.all()
    let sensors = SensorUnit.all(in: settings.sensorFolder).map(TrackerDescription.init)
    return TrackerList(trackers: nodes.compactMap { describe($0, settings, nodes) } + sensors)
  }

  init(trackers: [TrackerDescription]) {
    self.trackers = trackers
    for index in trackers.indices {
      let serial = trackers[index].serial
      let isUsable = !serial.isEmpty && !serial.contains { $0.isWhitespace }
      let isUnique = trackers.filter { $0.serial == serial }.count == 1
      self.trackers[index].id = isUsable && isUnique ? serial : trackers[index].path
    }
  }

  /// Returns the tracker that an identifier matches. The identifier is compared with the paths,
  /// then with the serial numbers, then with `vendor:product`, then with parts of the names.
  ///
  /// - Throws: `unknownTracker` if no tracker matches, or `ambiguousTracker` if several do. Both
  ///   list the candidates.
  public func match(_ id: String) throws(HeadTrackingError) -> TrackerDescription {
    let wanted = id.lowercased()
    let tests: [(TrackerDescription) -> Bool] = [
      { $0.path == id }, { $0.id == id || $0.serial.lowercased() == wanted },
      { $0.vendorAndProduct == wanted }, { $0.name.lowercased().contains(wanted) },
    ]
    for test in tests where !wanted.isEmpty {
      let found = trackers.filter(test)
      if found.count == 1 { return found[0] }
      if found.count > 1 { throw .ambiguousTracker(id, matches: found.map(Self.label)) }
    }
    throw .unknownTracker(id, available: trackers.map(Self.label))
  }

  private static func label(_ tracker: TrackerDescription) -> String {
    "\(tracker.id) (\(tracker.name))"
  }

  /// Returns the description of a node's tracker, or nil if the node is not a tracker or is gone.
  private static func describe(
    _ node: HIDNode, _ settings: TrackerSettings, _ nodes: [HIDNode]
  ) -> TrackerDescription? {
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
