// SPDX-License-Identifier: Apache-2.0

import HeadTracking

/// The stream of XREAL One, One Pro and 1S: frames with the readings of a six-axis sensor at 1 kHz.
///
/// | byte | value in a frame of 134 bytes |
/// |---|---|
/// | 0 | `28 36 00 00 00 80` |
/// | 14 | time of the sample in nanoseconds, u64 |
/// | 34 | angular velocity in rad/s, three f32 |
/// | 46 | specific force in m/s2, three f32 |
/// | 78 | `00 40 1F 00 00 40` if the frame contains these readings |
///
/// Numbers are little-endian. The glasses apply their factory calibration. Sources:
/// opentrack/opentrack, tracker-xreal-one; taowen/ar-glass-lib.
///
/// The axes are uncertain, because the available descriptions give three different sets of axes.
/// If no mounting is given, the driver assumes that the head is upright during the first samples
/// and chooses the set from the direction of their specific force.
struct XREALOneStream: Sendable {
  private static let length = 134
  private static let header: [UInt8] = [0x28, 0x36, 0x00, 0x00, 0x00, 0x80]
  private static let sensors: [UInt8] = [0x00, 0x40, 0x1F, 0x00, 0x00, 0x40]
  /// The number of samples from which the axes are chosen.
  private static let samplesForAxes = 50

  /// Bytes that do not form a complete frame yet.
  private(set) var rest: [UInt8] = []
  /// False after a byte that belongs to no frame, so that a series of such bytes counts as one
  /// damaged frame.
  private var isInStep = true
  private var axes: AxisMap?
  private var force = SIMD3<Double>.zero
  private var samples = 0
  private var clock = DeviceClock(nanosecondsPerTick: 1)

  /// - Parameter axes: the mounting; nil to choose it from the first samples.
  init(axes: AxisMap?) { self.axes = axes }

  /// Decodes the next bytes of the stream. The last frame may be incomplete.
  ///
  /// - Parameter arrival: the arrival time, in CLOCK_MONOTONIC nanoseconds.
  /// - Returns: the readings, oldest first, and the number of damaged frames.
  mutating func decode(
    _ bytes: [UInt8], arrival: Int64
  ) -> (readings: [TrackerReading], rejectedCount: Int) {
    let bytes = rest + bytes
    var readings: [TrackerReading] = []
    var (at, rejected) = (0, 0)
    while at + Self.header.count <= bytes.count {
      guard bytes[at..<at + Self.header.count].elementsEqual(Self.header) else {
        if isInStep { rejected += 1 }
        (at, isInStep) = (at + 1, false)
        continue
      }
      guard at + Self.length <= bytes.count else { break }
      isInStep = true
      switch reading(Array(bytes[at..<at + Self.length]), arrival) {
      case .reading(let reading): readings.append(reading)
      case .other: break
      case .damaged: rejected += 1
      }
      at += Self.length
    }
    rest = Array(bytes[at...])
    return (readings, rejected)
  }

  private enum Frame {
    case reading(TrackerReading)
    case other
    case damaged
  }

  private mutating func reading(_ frame: [UInt8], _ arrival: Int64) -> Frame {
    guard frame[78..<84].elementsEqual(Self.sensors) else { return .other }
    let (rate, force) = (frame.floats(34), frame.floats(46))
    guard rate.isReasonable, force.isReasonable else { return .damaged }
    guard let axes = axes ?? chosen(force) else { return .other }
    let time = clock.time(ticks: frame.u64(14), arrival: arrival)
    return .reading(
      .inertial(
        InertialSample(
          time: time, angularVelocity: axes.apply(rate), specificForce: axes.apply(force))))
  }

  /// Chooses the axes once enough samples have arrived. Returns nil until then.
  private mutating func chosen(_ newest: SIMD3<Double>) -> AxisMap? {
    force += newest
    samples += 1
    guard samples >= Self.samplesForAxes else { return nil }
    axes = Self.axes(force: force)
    return axes
  }

  /// Returns the set of axes that fits `force`, the specific force measured on an upright head.
  static func axes(force: SIMD3<Double>) -> AxisMap {
    guard abs(force.z) > abs(force.y) else { return .rightUpBack }
    return force.z > 0 ? .rightFrontUp : .leftFrontDown
  }
}
