// SPDX-License-Identifier: Apache-2.0

import HeadTracking

/// A tracker in `stillstage trackers --json`; docs/command-line.md explains the keys.
struct TrackerRecord: Encodable {
  let access: String
  let bus: String
  let id: String
  let kind: String
  let manufacturer: String
  let name: String
  let path: String
  /// The reason why the tracker cannot be used; absent if it can.
  let problem: String?
  let productID: Int
  let `protocol`: String
  let serial: String
  /// The udev rule that grants access; absent unless `access` is "permissionDenied".
  let udevRule: String?
  let vendorID: Int

  init(_ tracker: TrackerDescription) {
    access =
      switch tracker.access {
      case .ready: "ready"
      case .permissionDenied: "permissionDenied"
      case .failed: "failed"
      }
    bus = tracker.bus.rawValue
    id = tracker.id
    kind = tracker.kind.rawValue
    manufacturer = tracker.manufacturer
    name = tracker.name
    path = tracker.path
    problem = tracker.accessError?.description
    productID = Int(tracker.productID)
    `protocol` = tracker.protocolDescription
    serial = tracker.serial
    udevRule = tracker.access == .permissionDenied ? tracker.udevRule : nil
    vendorID = Int(tracker.vendorID)
  }
}
