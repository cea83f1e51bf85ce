// SPDX-License-Identifier: Apache-2.0

/// A family of HID trackers: a test that recognises them and a function that creates their driver.
struct TrackerModel: Sendable {
  var kind: TrackerKind
  var matches: @Sendable (HIDNode) -> Bool
  var open: @Sendable (TrackerContext) throws(HeadTrackingError) -> any TrackerDriver

  /// The models with built-in drivers. If several match a node, the first of them is used.
  static let all: [TrackerModel] = [
    TrackerModel(kind: .head, matches: AndroidHeadTracker.matches) {
      context throws(HeadTrackingError) in
      try AndroidHeadTracker(
        device: context.device, path: context.node.path, axes: context.axes ?? .rightFrontUp)
    },
    TrackerModel(kind: .head, matches: XREAL.matches) {
      XREAL(productID: $0.node.productID, axes: $0.axes)
    },
    TrackerModel(kind: .head, matches: OculusRift.matches) {
      OculusRift(productID: $0.node.productID, axes: $0.axes)
    },
    TrackerModel(kind: .head, matches: PlayStationVR.matches) {
      PlayStationVR($0.node, among: $0.nodes, axes: $0.axes)
    },
    TrackerModel(kind: .head, matches: HackerDevKit.matches) { HackerDevKit(axes: $0.axes) },
    TrackerModel(kind: .head, matches: RayNeo.matches) { RayNeo(axes: $0.axes) },
    TrackerModel(kind: .head, matches: VITURESensor.matches) {
      context throws(HeadTrackingError) in
      try VITURESensor(context.node, among: context.nodes, axes: context.axes)
    },
    TrackerModel(kind: .head, matches: VITUREPose.matches) {
      VITUREPose($0.node, among: $0.nodes, axes: $0.axes)
    },
    TrackerModel(kind: .head, matches: Rokid.matches) { Rokid(axes: $0.axes) },
    TrackerModel(kind: .head, matches: RokidMax2.matches) { RokidMax2(axes: $0.axes) },
    TrackerModel(kind: .controller, matches: DualSense.matches) { DualSense(axes: $0.axes) },
    TrackerModel(kind: .controller, matches: DualShock4.matches) {
      DualShock4(bus: $0.node.bus, axes: $0.axes)
    },
    TrackerModel(kind: .controller, matches: SwitchController.matches) {
      SwitchController(productID: $0.node.productID, bus: $0.node.bus, axes: $0.axes)
    },
  ]

  /// Returns the model that matches a node; nil if none does. Profiles take precedence over
  /// built-in drivers.
  static func find(_ node: HIDNode, _ settings: TrackerSettings) -> TrackerModel? {
    if let profile = settings.profiles.first(where: { $0.matches(node) }) {
      return TrackerModel(kind: profile.kind, matches: profile.matches) {
        context throws(HeadTrackingError) in
        try ProfiledTracker(
          profile, descriptor: context.device.reportDescriptor(), path: context.node.path,
          axes: context.axes)
      }
    }
    return all.first { $0.matches(node) }
  }
}

extension TrackerProfile {
  func matches(_ node: HIDNode) -> Bool {
    guard link == .hid, node.vendorID == vendorID else { return false }
    if let productID, node.productID != productID { return false }
    if let usage, !node.usages.contains(usage) { return false }
    return true
  }
}

struct TrackerContext {
  var node: HIDNode
  var device: HIDDevice
  var settings: TrackerSettings
  /// All HID nodes. One device can consist of several nodes.
  var nodes: [HIDNode]

  var axes: AxisMap? { settings.axes }
}
