// SPDX-License-Identifier: Apache-2.0

import HeadTracking

/// A tracker in `stillstage trackers --json`; docs/command-line.md explains the keys.
struct TrackerRecord: Encodable {
  let access: String
  /// The charge of each part of the earphones, in percent; absent if unknown.
  let battery: [String: Int]?
  /// The earbud whose sensor is in use; absent if unknown, or if there are no earbuds.
  let bud: String?
  let bus: String
  /// False for a known tracker without a connection; otherwise absent.
  let connected: Bool?
  /// The earphones' firmware version; absent if unknown.
  let firmware: String?
  let id: String
  let kind: String
  let manufacturer: String
  let name: String
  let path: String
  /// Why the tracker cannot be used; absent if it can be used.
  let problem: String?
  let productID: Int
  let `protocol`: String
  let serial: String
  /// The state of the earphones; absent for other trackers.
  let state: String?
  /// The udev rule that grants access; absent if `access` is not "permissionDenied", or if the
  /// tracker is a serial port that is not on USB.
  let udevRule: String?
  /// Whether decoding is untested for these earphones; absent for other trackers.
  let untested: Bool?
  let vendorID: Int
  /// What the decoding was verified with: `hardware`, `captures` or `documentation`.
  let verified: String

  init(_ tracker: TrackerDescription) {
    access =
      switch tracker.access {
      case .ready: "ready"
      case .permissionDenied: "permissionDenied"
      case .failed: "failed"
      case .heldByKernel: "heldByKernel"
      }
    let earphones = tracker.earphones
    battery = earphones.flatMap { $0.battery.isEmpty ? nil : $0.battery }
    bud = earphones?.bud
    bus = tracker.bus.rawValue
    connected = tracker.isAway ? false : nil
    firmware = earphones.flatMap { $0.firmware.isEmpty ? nil : $0.firmware }
    id = tracker.id
    kind = tracker.kind.rawValue
    manufacturer = tracker.manufacturer
    name = tracker.name
    path = tracker.path
    problem = tracker.accessError?.description
    productID = Int(tracker.productID)
    `protocol` = tracker.protocolDescription
    serial = tracker.serial
    state = earphones?.state.rawValue
    untested = earphones?.isUntested
    udevRule = tracker.access == .permissionDenied ? tracker.udevRule : nil
    vendorID = Int(tracker.vendorID)
    verified = tracker.evidence.rawValue
  }
}
