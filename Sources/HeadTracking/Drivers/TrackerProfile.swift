// SPDX-License-Identifier: Apache-2.0

/// A description of a simple HID tracker: the meaning of the bits in its reports. See
/// docs/trackers.md.
public struct TrackerProfile: Sendable, Equatable {
  /// The quantity that a number in a report represents.
  public enum Signal: String, Sendable, CaseIterable {
    /// The sensor's orientation as a quaternion, from sensor to world.
    case quaternionW, quaternionX, quaternionY, quaternionZ
    /// The sensor's orientation as a rotation vector, in rad.
    case rotationX, rotationY, rotationZ
    /// The head's orientation as angles, in rad: yaw is positive to the left, pitch is positive
    /// upwards, and roll is positive if the right ear is down.
    case yaw, pitch, roll
    /// Angular velocity, in rad/s.
    case rateX, rateY, rateZ
    /// Specific force, in m/s2.
    case forceX, forceY, forceZ
    /// Magnetic field, in uT.
    case fieldX, fieldY, fieldZ
    /// The device's clock, in ticks.
    case clock
    /// Nonzero while the recentring button is pressed.
    case recenterButton
  }

  public enum NumberType: String, Sendable, CaseIterable {
    case u8, i8, u16, i16, u24, i24, u32, i32, f32
    case u16be, i16be, u32be, i32be, f32be

    /// Size in bytes.
    public var size: Int {
      switch self {
      case .u8, .i8: 1
      case .u16, .i16, .u16be, .i16be: 2
      case .u24, .i24: 3
      default: 4
      }
    }
  }

  public enum Place: Sendable, Equatable {
    /// The number is at a byte offset in the report as read, including a report id.
    case byte(Int, NumberType)
    /// The number is the raw value of an element. Element 0 has this usage, and the later elements
    /// follow it in the same field.
    case usage(HIDUsage, element: Int)
  }

  /// A number in a report: value = raw * scale + offset.
  public struct Number: Sendable, Equatable {
    public var place: Place
    public var scale: Double
    public var offset: Double

    public init(_ place: Place, scale: Double = 1, offset: Double = 0) {
      self.place = place
      self.scale = scale
      self.offset = offset
    }
  }

  public var name: String
  public var vendorID: UInt16
  /// The product's id; nil for any product of the vendor.
  public var productID: UInt16?
  /// The top-level usage that the device must have; nil for any.
  public var usage: HIDUsage?
  /// The id of the reports to decode; nil to decode every report.
  public var reportID: UInt8?
  public var kind: TrackerKind
  public var axes: AxisMap
  public var signals: [Signal: Number]
  /// Seconds per tick of `Signal.clock`.
  public var tickSeconds: Double
  /// Width of `Signal.clock`, in bits.
  public var clockBits: Int
  /// Feature reports that start the device, each beginning with its id.
  public var startFeatures: [[UInt8]]
  /// Output reports that start the device, each beginning with its id. They are sent after
  /// `startFeatures`.
  public var startOutputs: [[UInt8]]

  public init(
    name: String, vendorID: UInt16, productID: UInt16? = nil, usage: HIDUsage? = nil,
    reportID: UInt8? = nil, kind: TrackerKind = .head, axes: AxisMap = .frontLeftUp,
    signals: [Signal: Number], tickSeconds: Double = 1e-6, clockBits: Int = 32,
    startFeatures: [[UInt8]] = [], startOutputs: [[UInt8]] = []
  ) {
    self.name = name
    self.vendorID = vendorID
    self.productID = productID
    self.usage = usage
    self.reportID = reportID
    self.kind = kind
    self.axes = axes
    self.signals = signals
    self.tickSeconds = tickSeconds
    self.clockBits = clockBits
    self.startFeatures = startFeatures
    self.startOutputs = startOutputs
  }

  /// The reason why the profile is invalid; nil if it is valid.
  public var problem: String? {
    let has = Set(signals.keys)
    let sets: [Set<Signal>] = [
      [.quaternionW, .quaternionX, .quaternionY, .quaternionZ],
      [.rotationX, .rotationY, .rotationZ], [.rateX, .rateY, .rateZ, .forceX, .forceY, .forceZ],
    ]
    let hasAngle = !has.isDisjoint(with: [.yaw, .pitch, .roll])
    guard hasAngle || sets.contains(where: has.isSuperset) else {
      return "it has neither an orientation nor the rates and forces of all three axes"
    }
    for (signal, number) in signals {
      guard number.scale.isFinite, number.offset.isFinite, number.scale != 0 else {
        return "the scale of \(signal.rawValue) must be finite and not 0, and its offset finite"
      }
      if case .byte(let at, let type) = number.place, !(0...4096 - type.size).contains(at) {
        return "the byte of \(signal.rawValue) must be from 0 to \(4096 - type.size)"
      }
    }
    guard tickSeconds > 1e-10, tickSeconds < 1, (8...64).contains(clockBits) else {
      return "the clock's tick must be between 1e-10 and 1 s, and the clock's width 8 to 64 bits"
    }
    return nil
  }
}
