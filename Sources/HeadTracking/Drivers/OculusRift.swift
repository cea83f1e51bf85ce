// SPDX-License-Identifier: Apache-2.0

/// Oculus Rift DK1 (2833:0001), DK2 (2833:0021, 2021) and CV1 (2833:0031): nine-axis sensors at
/// 1 kHz. A report contains up to three readings (DK1) or two (DK2, CV1).
///
/// The headset stops sending ten seconds after the last keep-alive report. Axes: x right, y up, z
/// back. Source: OpenHMD/OpenHMD, src/drv_oculus_rift (Boost licence).
///
/// Two things are uncertain: the layout of the keep-alive report 0x11 of the DK2 and CV1, and the
/// unit of the magnetometer, which is assumed to be 1e-4 gauss.
struct OculusRift: TrackerDriver {
  enum Model: Sendable {
    case dk1
    case dk2
    case cv1
  }

  let protocolDescription: String
  private let model: Model
  private let axes: AxisMap
  private var clock: DeviceClock
  private var times = ReadingTimes()
  private var lastKeepAlive: Int64?

  private static let products: [UInt16: Model] = [
    0x0001: .dk1, 0x0021: .dk2, 0x2021: .dk2, 0x0031: .cv1,
  ]
  private static let keepAliveMilliseconds: UInt16 = 10_000
  private static let keepAliveInterval: Int64 = 3_000_000_000
  /// One count of a reading, in rad/s or m/s2.
  private static let step = 1e-4

  static func matches(_ node: HIDNode) -> Bool {
    guard node.vendorID == 0x2833, let model = products[node.productID] else { return false }
    return model != .cv1 || node.interface <= 0
  }

  init(productID: UInt16, axes: AxisMap? = nil) {
    model = Self.products[productID] ?? .dk1
    protocolDescription =
      switch model {
      case .dk1: "Oculus Rift DK1"
      case .dk2: "Oculus Rift DK2"
      case .cv1: "Oculus Rift CV1"
      }
    self.axes = axes ?? .rightUpBack
    clock = Self.clock(model)
  }

  private static func clock(_ model: Model) -> DeviceClock {
    model == .dk1
      ? DeviceClock(nanosecondsPerTick: 1e6, bits: 16)
      : DeviceClock(nanosecondsPerTick: 1000, bits: 32)
  }
}

// MARK: Start

extension OculusRift {
  /// Makes the headset send for ten seconds. Requests calibrated readings from the DK2 and CV1.
  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError) {
    clock = Self.clock(model)
    if model == .cv1 {
      // Enable the display, the audio and a third function, without which the sensor stays off.
      try? link.setFeature([0x1D, 0, 0, 0x07])
    }
    if model != .dk1, var settings = try? link.feature(id: 0x02, length: 7), settings.count >= 7 {
      let useCalibration: UInt8 = 0x04
      let autoCalibration: UInt8 = 0x08
      settings[3] |= useCalibration | autoCalibration
      try? link.setFeature(settings)
    }
    try sendKeepAlive(link)
    lastKeepAlive = nil
  }

  mutating func keepAlive(_ link: some TrackerLink, now: Int64) {
    guard let last = lastKeepAlive else {
      lastKeepAlive = now
      return
    }
    guard now - last >= Self.keepAliveInterval else { return }
    lastKeepAlive = now
    try? sendKeepAlive(link)
  }

  private func sendKeepAlive(_ link: some TrackerLink) throws(HeadTrackingError) {
    let time = [UInt8].bytes(Self.keepAliveMilliseconds)
    let older: [UInt8] = [0x08, 0, 0] + time
    guard model != .dk1 else { return try link.setFeature(older) }
    do {
      try link.setFeature([0x11, 0, 0, 0x0B] + time)
    } catch {
      try link.setFeature(older)
    }
  }
}

// MARK: Reports

extension OculusRift {
  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]? {
    switch (model, report.first) {
    case (.dk1, 0x01) where report.count >= 62:
      let time = clock.time(ticks: UInt64(report.u16(2)), arrival: arrival)
      return readings(report, count: min(Int(report[1]), 3), at: 8, field: 56, newest: time)
    case (.dk2, 0x0B) where report.count >= 64, (.cv1, 0x0B) where report.count >= 64:
      let time = clock.time(ticks: UInt64(report.u32(8)), arrival: arrival)
      return readings(report, count: min(Int(report[3]), 2), at: 12, field: 44, newest: time)
    case (.dk1, _): return nil
    // Other reports, such as those of a remote control, contain no readings.
    default: return report.first == 0x0B || report.isEmpty ? nil : []
    }
  }

  private mutating func readings(
    _ report: [UInt8], count: Int, at start: Int, field: Int, newest: Int64
  ) -> [TrackerReading] {
    let times = times.times(newest: newest, count: count, spacing: 1_000_000)
    return (0..<count).map { index in
      let place = start + 16 * index
      return .inertial(
        InertialSample(
          time: times[index],
          angularVelocity: axes.apply(Self.unpack(report, place + 8) * Self.step),
          specificForce: axes.apply(Self.unpack(report, place) * Self.step),
          magneticField: axes.apply(report.vector(field) * 0.01)))
    }
  }

  /// Unpacks three signed 21-bit numbers, most significant bit first, from the eight bytes at
  /// offset `at`. The last bit is unused.
  static func unpack(_ report: [UInt8], _ at: Int) -> SIMD3<Double> {
    let word = report[at..<at + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let parts = [0, 21, 42].map { Double(Int64(bitPattern: word << UInt64($0)) >> 43) }
    return SIMD3(parts[0], parts[1], parts[2])
  }
}
