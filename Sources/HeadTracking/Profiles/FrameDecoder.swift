// SPDX-License-Identifier: Apache-2.0

import Geometry

/// Decodes the frames that a `TrackerProfile` describes, for every kind of link. It makes no system
/// calls.
///
/// If a frame has only some of the signals, their values are kept until frames with the other
/// signals have arrived. The frames may contain any bytes.
package struct FrameDecoder: Sendable {
  private let profile: TrackerProfile
  private let axes: AxisMap
  private let fields: [TrackerProfile.Signal: HIDField]
  private let pairs: [TrackerProfile.ControllerPlace]
  /// The signals that complete a sample.
  private let needed: Set<TrackerProfile.Signal>
  private var values: [TrackerProfile.Signal: Double] = [:]
  private var fresh: Set<TrackerProfile.Signal> = []
  private var clock: DeviceClock
  private var arrivals = EvenArrivals()
  private var isPressed = false

  package init(_ profile: TrackerProfile, axes: AxisMap? = nil) {
    self.init(profile, axes: axes, fields: [:])
  }

  /// - Parameter fields: the fields of a HID report, for signals with a usage.
  init(_ profile: TrackerProfile, axes: AxisMap?, fields: [TrackerProfile.Signal: HIDField]) {
    self.profile = profile
    self.axes = axes ?? profile.axes
    self.fields = fields
    pairs = profile.controllerPairs
    let has = Set(profile.signals.keys)
    let orientation = TrackerProfile.Signal.orientations.first(where: has.isSuperset)
    let angles = has.intersection(TrackerProfile.Signal.angles)
    needed = orientation ?? (angles.isEmpty ? TrackerProfile.Signal.motion : angles)
    clock = DeviceClock(nanosecondsPerTick: profile.tickSeconds * 1e9, bits: profile.clockBits)
  }

  /// Decodes a frame to readings, oldest first. Returns nil for an empty frame, a frame with a
  /// missing or invalid value, values that do not form a sample, and text that matches no pattern.
  /// Returns an empty array for any other frame that completes no reading.
  ///
  /// - Parameters:
  ///   - frame: the frame as the link delivers it. For MIDI controllers, it has two bytes for each
  ///     of `controllerPairs`, the more significant first.
  ///   - arrival: the arrival time, in CLOCK_MONOTONIC nanoseconds.
  package mutating func decode(_ frame: [UInt8], arrival: Int64) -> [TrackerReading]? {
    for kind in profile.frames {
      guard kind.conditions.allSatisfy({ $0 < frame.count && frame[$0] == $1 }) else { continue }
      var numbers: [String: Double] = [:]
      if let pattern = kind.pattern {
        guard let found = pattern.numbers(in: frame) else { continue }
        numbers = found
      }
      for (signal, number) in kind.signals {
        guard let raw = raw(signal, number.place, frame, numbers) else { return nil }
        let value = raw * number.scale + number.offset
        guard value.isFinite else { return nil }
        values[signal] = value
        fresh.insert(signal)
      }
      return readings(arrival)
    }
    let isText = profile.frames.contains { $0.pattern != nil }
    return isText || frame.isEmpty ? nil : []
  }

  private func raw(
    _ signal: TrackerProfile.Signal, _ place: TrackerProfile.Place, _ frame: [UInt8],
    _ numbers: [String: Double]
  ) -> Double? {
    switch place {
    case .byte(let at, let type): return type.value(frame, at)
    case .name(let name): return numbers[name]
    case .usage(let usage, let element):
      guard let field = fields[signal] else { return nil }
      let report = field.reportID == 0 || field.reportID == frame.first ? frame : []
      let first = field.index(of: usage) ?? 0
      return field.value(in: report, element: first + element).map(Double.init)
    case .controllers(let most, let least, let channel):
      let place = TrackerProfile.ControllerPlace(channel: channel, most: most, least: least)
      return pairs.firstIndex(of: place).flatMap {
        TrackerProfile.NumberType.u14be.value(frame, 2 * $0)
      }
    }
  }

  /// Returns the recentring button if it has just been pressed, and a sample if all needed signals
  /// have arrived. Returns nil if the values do not form a sample.
  private mutating func readings(_ arrival: Int64) -> [TrackerReading]? {
    let wasPressed = isPressed
    isPressed = values[.recenterButton] ?? 0 != 0
    let button: [TrackerReading] = isPressed && !wasPressed ? [.recenterButton] : []
    guard needed.isSubset(of: fresh) else { return button }
    fresh = []
    let rate = vector(.rateX, .rateY, .rateZ).map(turned)
    guard let time = moment(arrival) else { return nil }
    if needed != TrackerProfile.Signal.motion {
      guard let head = orientation else { return nil }
      return button + [.head(HeadSample(time: time, headToWorld: head, angularVelocity: rate))]
    }
    guard let rate, let force = vector(.forceX, .forceY, .forceZ).map(turned) else { return nil }
    let field = vector(.fieldX, .fieldY, .fieldZ).map(turned)
    return button + [
      .inertial(
        InertialSample(
          time: time, angularVelocity: rate, specificForce: force, magneticField: field))
    ]
  }

  /// Returns the time of a sample, in CLOCK_MONOTONIC nanoseconds; nil if the ticks are out of
  /// range. Without a device clock, the time is a smoothed arrival time.
  private mutating func moment(_ arrival: Int64) -> Int64? {
    guard let ticks = values[.clock] else { return arrivals.time(arrival) }
    guard abs(ticks) < 1e18 else { return nil }
    return clock.time(ticks: UInt64(bitPattern: Int64(ticks)), arrival: arrival)
  }

  // MARK: Orientation

  /// The orientation of the head; nil if the values do not form an orientation.
  private var orientation: Quaternion? {
    guard var turn = sensorToWorld else { return nil }
    if profile.isInverse { turn = turn.conjugate }
    return profile.mount.map { (turn * $0.conjugate).normalized } ?? turn
  }

  private var sensorToWorld: Quaternion? {
    if let w = values[.quaternionW],
      let turn = vector(.quaternionX, .quaternionY, .quaternionZ).map(axes.apply)
    {
      let q = Quaternion(w: w, x: turn.x, y: turn.y, z: turn.z)
      return q.squaredNorm > 0.5 && q.squaredNorm < 2 ? q.normalized : nil
    }
    if let turn = vector(.rotationX, .rotationY, .rotationZ).map(axes.apply) {
      return (turn * turn).sum() < 100 ? Quaternion(rotationVector: turn) : nil
    }
    let angles = [.yaw, .pitch, .roll].map { values[$0] ?? 0 }
    guard angles.allSatisfy({ abs($0) < 1e4 }) else { return nil }
    let yaw = Quaternion(rotationVector: SIMD3(0, 0, angles[0]))
    let pitch = Quaternion(rotationVector: SIMD3(0, -angles[1], 0))
    let roll = Quaternion(rotationVector: SIMD3(angles[2], 0, 0))
    return switch profile.order {
    case .zyx: yaw * pitch * roll
    case .zxy: yaw * roll * pitch
    }
  }

  /// Converts a vector from the sensor's axes to the head's.
  private func turned(_ vector: SIMD3<Double>) -> SIMD3<Double> {
    let applied = axes.apply(vector)
    return profile.mount?.rotate(applied) ?? applied
  }

  private func vector(
    _ x: TrackerProfile.Signal, _ y: TrackerProfile.Signal, _ z: TrackerProfile.Signal
  ) -> SIMD3<Double>? {
    guard let x = values[x], let y = values[y], let z = values[z] else { return nil }
    return SIMD3(x, y, z)
  }
}
