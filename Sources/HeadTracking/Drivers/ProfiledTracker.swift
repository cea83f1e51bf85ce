// SPDX-License-Identifier: Apache-2.0

import Geometry

/// The driver of a tracker that a `TrackerProfile` describes.
struct ProfiledTracker: TrackerDriver {
  let inputLength = 4096
  private let profile: TrackerProfile
  private let axes: AxisMap
  private let fields: [TrackerProfile.Signal: HIDField]
  private var clock: DeviceClock
  private var arrivals = EvenArrivals()
  private var isPressed = false

  init(
    _ profile: TrackerProfile, descriptor: HIDReportDescriptor, path: String,
    axes: AxisMap? = nil
  ) throws(HeadTrackingError) {
    if let problem = profile.problem {
      throw .notAHeadTracker(
        path: path, reason: "its profile '\(profile.name)' is invalid: \(problem)")
    }
    var fields: [TrackerProfile.Signal: HIDField] = [:]
    for (signal, number) in profile.signals {
      guard case .usage(let usage, _) = number.place else { continue }
      guard let field = descriptor.field(.input, usage: usage) else {
        throw .notAHeadTracker(
          path: path,
          reason: "it lacks the usage that profile '\(profile.name)' names for \(signal.rawValue)")
      }
      fields[signal] = field
    }
    self.profile = profile
    self.axes = axes ?? profile.axes
    self.fields = fields
    clock = DeviceClock(
      nanosecondsPerTick: profile.tickSeconds * 1e9, bits: profile.clockBits)
  }

  var protocolDescription: String { "profile \(profile.name)" }

  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError) {
    for report in profile.startFeatures { try link.setFeature(report) }
    for report in profile.startOutputs { try link.write(report) }
  }

  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]? {
    if let id = profile.reportID, report.first != id { return report.isEmpty ? nil : [] }
    var values: [TrackerProfile.Signal: Double] = [:]
    for (signal, number) in profile.signals {
      guard let raw = raw(signal, number.place, report), raw.isFinite else { return nil }
      values[signal] = raw * number.scale + number.offset
    }
    let wasPressed = isPressed
    isPressed = values[.recenterButton] ?? 0 != 0
    let button: [TrackerReading] = isPressed && !wasPressed ? [.recenterButton] : []
    let rate = vector(values, .rateX, .rateY, .rateZ).map(axes.apply)
    guard let time = moment(values, arrival) else { return nil }
    if let turn = orientation(values) {
      let head = HeadSample(time: time, headToWorld: turn, angularVelocity: rate)
      return button + [.head(head)]
    }
    guard let rate, let force = vector(values, .forceX, .forceY, .forceZ) else { return nil }
    let field = vector(values, .fieldX, .fieldY, .fieldZ).map(axes.apply)
    return button + [
      .inertial(
        InertialSample(
          time: time, angularVelocity: rate, specificForce: axes.apply(force),
          magneticField: field))
    ]
  }

  /// Returns the time of a sample, in CLOCK_MONOTONIC nanoseconds; nil if the ticks are out of
  /// range. Without a device clock, this is a smoothed arrival time.
  private mutating func moment(
    _ values: [TrackerProfile.Signal: Double], _ arrival: Int64
  ) -> Int64? {
    guard let ticks = values[.clock] else {
      return arrivals.time(arrival)
    }
    guard abs(ticks) < 1e18 else { return nil }
    return clock.time(ticks: UInt64(bitPattern: Int64(ticks)), arrival: arrival)
  }

  private func orientation(_ values: [TrackerProfile.Signal: Double]) -> Quaternion? {
    if let w = values[.quaternionW],
      let turn = vector(values, .quaternionX, .quaternionY, .quaternionZ).map(axes.apply)
    {
      let q = Quaternion(w: w, x: turn.x, y: turn.y, z: turn.z)
      return q.squaredNorm > 0.5 && q.squaredNorm < 2 ? q.normalized : nil
    }
    if let turn = vector(values, .rotationX, .rotationY, .rotationZ).map(axes.apply) {
      return (turn * turn).sum() < 100 ? Quaternion(rotationVector: turn) : nil
    }
    let angles = [values[.yaw], values[.pitch], values[.roll]]
    guard angles.contains(where: { $0 != nil }) else { return nil }
    let degrees = angles.map { ($0 ?? 0) / radiansPerDegree }
    guard degrees.allSatisfy({ abs($0) < 1e6 }) else { return nil }
    return YawPitchRoll(yaw: degrees[0], pitch: degrees[1], roll: degrees[2]).quaternion
  }

  private func vector(
    _ values: [TrackerProfile.Signal: Double], _ x: TrackerProfile.Signal,
    _ y: TrackerProfile.Signal, _ z: TrackerProfile.Signal
  ) -> SIMD3<Double>? {
    guard let x = values[x], let y = values[y], let z = values[z] else { return nil }
    return SIMD3(x, y, z)
  }

  private func raw(
    _ signal: TrackerProfile.Signal, _ place: TrackerProfile.Place, _ report: [UInt8]
  ) -> Double? {
    switch place {
    case .byte(let at, let type): return type.value(report, at)
    case .usage(let usage, let element):
      guard let field = fields[signal] else { return nil }
      let report = field.reportID == 0 || field.reportID == report.first ? report : []
      let first = field.index(of: usage) ?? 0
      return field.value(in: report, element: first + element).map(Double.init)
    }
  }
}

extension TrackerProfile.NumberType {
  /// Returns the number at a byte offset; nil if the report is too short.
  func value(_ report: [UInt8], _ at: Int) -> Double? {
    guard at >= 0, at + size <= report.count else { return nil }
    switch self {
    case .u8: return Double(report[at])
    case .i8: return Double(Int8(bitPattern: report[at]))
    case .u16: return Double(report.u16(at))
    case .i16: return Double(report.i16(at))
    case .u24: return Double(UInt32(bitPattern: report.i24(at)) & 0xFF_FFFF)
    case .i24: return Double(report.i24(at))
    case .u32: return Double(report.u32(at))
    case .i32: return Double(Int32(bitPattern: report.u32(at)))
    case .f32: return Double(Float(bitPattern: report.u32(at)))
    case .u16be: return Double(report.u16(at).byteSwapped)
    case .i16be: return Double(Int16(bitPattern: report.u16(at).byteSwapped))
    case .u32be: return Double(report.u32(at).byteSwapped)
    case .i32be: return Double(Int32(bitPattern: report.u32(at).byteSwapped))
    case .f32be: return Double(Float(bitPattern: report.u32(at).byteSwapped))
    }
  }
}
