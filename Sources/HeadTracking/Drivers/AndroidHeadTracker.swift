// SPDX-License-Identifier: Apache-2.0

import Geometry

/// The driver for the Android head tracker HID protocol, versions 1 and 2. Source:
/// source.android.com, "Head tracker HID protocol".
struct AndroidHeadTracker: Sendable {
  static let usage = HIDUsage(page: 0x20, usage: 0xE1)
  static func matches(_ node: HIDNode) -> Bool { node.usages.contains(usage) }
  static let mark = "#AndroidHeadTracker#"

  /// The text with which the device describes itself, such as `#AndroidHeadTracker#1.0`.
  let protocolDescription: String
  private let descriptor: HIDReportDescriptor
  private let rotation: HIDField
  private let velocity: HIDField?
  private let counter: HIDField?
  private let axes: AxisMap

  /// Reads the device's `protocolDescription`, and finds the fields of its reports.
  init(
    device: HIDDevice, path: String, axes: AxisMap = .rightFrontUp
  ) throws(HeadTrackingError) {
    try self.init(
      descriptor: device.reportDescriptor(), features: device, path: path, axes: axes)
  }

  init(
    descriptor: HIDReportDescriptor, features: some HIDFeatures, path: String,
    axes: AxisMap = .rightFrontUp
  ) throws(HeadTrackingError) {
    self.descriptor = descriptor
    self.axes = axes
    guard descriptor.applications.contains(Self.usage) else {
      throw .notAHeadTracker(
        path: path, reason: "its report descriptor has no head tracker collection")
    }
    guard let rotation = descriptor.field(.input, usage: .rotation), rotation.count >= 3 else {
      throw .notAHeadTracker(path: path, reason: "it reports no orientation")
    }
    self.rotation = rotation
    velocity = descriptor.field(.input, usage: .velocity).flatMap {
      $0.count >= 3 && $0.reportID == rotation.reportID ? $0 : nil
    }
    counter = descriptor.field(.input, usage: .discontinuity).flatMap {
      $0.reportID == rotation.reportID ? $0 : nil
    }
    protocolDescription = try Self.description(descriptor, features)
    guard protocolDescription.hasPrefix(Self.mark) else {
      throw .notAHeadTracker(
        path: path,
        reason: "it describes itself as '\(protocolDescription.prefix(40))', not as '\(Self.mark)'")
    }
  }

  /// The buffer size for an input report, in bytes; at least 64.
  var inputLength: Int { max(64, descriptor.reportLength(.input, id: rotation.reportID)) }

  private static func description(
    _ descriptor: HIDReportDescriptor, _ features: some HIDFeatures
  ) throws(HeadTrackingError) -> String {
    guard let field = descriptor.field(.feature, usage: .description) else { return "" }
    let report = try read(field.reportID, descriptor, features)
    var text = ""
    for element in 0..<min(field.count, 256) {
      guard let letter = field.value(in: report, element: element), (32..<127).contains(letter)
      else { break }
      text.unicodeScalars.append(Unicode.Scalar(UInt8(letter)))
    }
    return text
  }

  /// Reads a feature report. If the device does not number its reports, removes the leading zero,
  /// which stands for the ID.
  private static func read(
    _ id: UInt8, _ descriptor: HIDReportDescriptor, _ features: some HIDFeatures
  ) throws(HeadTrackingError) -> [UInt8] {
    let length = descriptor.reportLength(.feature, id: id)
    let report = try features.feature(id: id, length: id == 0 ? length + 1 : length)
    return id == 0 ? Array(report.dropFirst()) : report
  }
}

// MARK: Start and stop

extension AndroidHeadTracker {
  private struct Setting {
    var field: HIDField
    var value: Int64
  }

  /// Makes the device send all its measurements. If the interval can be set, selects the supported
  /// one nearest to 10 ms.
  func start(features: some HIDFeatures) throws(HeadTrackingError) {
    var settings: [Setting] = []
    if let transport = transport { settings.append(transport) }
    settings.append(try required(.powerFull))
    settings.append(try required(.reportAllEvents))
    if let interval = descriptor.field(.feature, usage: .reportInterval) {
      settings.append(Setting(field: interval, value: interval.raw(nearestTo: 0.010)))
    }
    try apply(settings, features)
  }

  /// Selects "no events" and "power off" if the device has these settings.
  func stop(features: some HIDFeatures) throws(HeadTrackingError) {
    try apply([selector(.reportNoEvents), selector(.powerOff)].compactMap(\.self), features)
  }

  /// The transport setting; nil if there is none. Prefers ISO if `protocolDescription` offers only
  /// ISO, otherwise ACL.
  private var transport: Setting? {
    guard let offer = protocolDescription.split(separator: "#").last.flatMap({ Int($0) }),
      offer & 2 != 0, offer & 1 == 0
    else { return selector(.transportACL) ?? selector(.transportISO) }
    return selector(.transportISO) ?? selector(.transportACL)
  }

  private func selector(_ usage: HIDUsage) -> Setting? {
    for field in descriptor.fields where field.kind == .feature {
      if let value = field.selector(for: usage) { return Setting(field: field, value: value) }
    }
    return nil
  }

  private func required(_ usage: HIDUsage) throws(HeadTrackingError) -> Setting {
    if let setting = selector(usage) { return setting }
    let number = String(usage.value, radix: 16)
    throw .featureFailed(report: 0, reason: "the descriptor has no selector for usage 0x\(number)")
  }

  /// Changes settings in their feature reports, without changing the other bits of the reports.
  private func apply(
    _ settings: [Setting], _ features: some HIDFeatures
  ) throws(HeadTrackingError) {
    var done: Set<UInt8> = []
    for id in settings.map(\.field.reportID) where done.insert(id).inserted {
      var report = try Self.read(id, descriptor, features)
      for setting in settings where setting.field.reportID == id {
        guard setting.field.set(setting.value, in: &report) else {
          throw .featureFailed(report: Int(id), reason: "it is shorter than the descriptor states")
        }
      }
      try features.setFeature(id == 0 ? [0] + report : report)
    }
  }
}

// MARK: The driver

extension AndroidHeadTracker: TrackerDriver {
  // The headset keeps computing its orientation while the link is interrupted.
  var keepsReference: Bool { true }

  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError) {
    try start(features: link)
  }

  mutating func stop(_ link: some TrackerLink) { try? stop(features: link) }

  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]? {
    decode(report, time: arrival, axes: axes).map { [.head($0)] }
  }
}

// MARK: Reports

extension AndroidHeadTracker {
  /// Returns the sample in an input report; nil if there is no valid sample.
  ///
  /// - Parameters:
  ///   - report: the report as read, with its ID if the device numbers its reports.
  ///   - time: the arrival time, in CLOCK_MONOTONIC nanoseconds.
  func decode(_ report: [UInt8], time: Int64, axes: AxisMap) -> HeadSample? {
    if rotation.reportID != 0 {
      guard report.first == rotation.reportID else { return nil }
    }
    guard let turn = vector(rotation, report) else { return nil }
    // A rotation vector is at most pi long. Allow a margin for coarse resolutions.
    guard (turn * turn).sum() < 3.3 * 3.3 else { return nil }
    // Some devices have no gyroscope and send zeros.
    let rate = velocity.flatMap { vector($0, report) }
    return HeadSample(
      time: time, headToWorld: Quaternion(rotationVector: axes.apply(turn)),
      angularVelocity: rate == .zero ? nil : rate.map(axes.apply),
      discontinuityCount: counter.flatMap { $0.value(in: report) }.map(Int.init) ?? 0)
  }

  private func vector(_ field: HIDField, _ report: [UInt8]) -> SIMD3<Double>? {
    guard let x = field.physicalValue(in: report, element: 0),
      let y = field.physicalValue(in: report, element: 1),
      let z = field.physicalValue(in: report, element: 2)
    else { return nil }
    return SIMD3(x, y, z)
  }
}

extension HIDUsage {
  static let description = HIDUsage(page: 0x20, usage: 0x0308)
  static let reportInterval = HIDUsage(page: 0x20, usage: 0x030E)
  static let rotation = HIDUsage(page: 0x20, usage: 0x0544)
  static let velocity = HIDUsage(page: 0x20, usage: 0x0545)
  static let discontinuity = HIDUsage(page: 0x20, usage: 0x0546)
  static let reportNoEvents = HIDUsage(page: 0x20, usage: 0x0840)
  static let reportAllEvents = HIDUsage(page: 0x20, usage: 0x0841)
  static let powerFull = HIDUsage(page: 0x20, usage: 0x0851)
  static let powerOff = HIDUsage(page: 0x20, usage: 0x0855)
  static let transportACL = HIDUsage(page: 0x20, usage: 0xF800)
  static let transportISO = HIDUsage(page: 0x20, usage: 0xF801)
}
