// SPDX-License-Identifier: Apache-2.0

extension TrackerProfile {
  /// The quantity that a number in a frame represents.
  public enum Signal: String, Sendable, CaseIterable {
    /// The sensor's orientation as a quaternion, from sensor to world unless `isInverse` is set.
    case quaternionW, quaternionX, quaternionY, quaternionZ
    /// The sensor's orientation as a rotation vector, in rad, from sensor to world unless
    /// `isInverse` is set.
    case rotationX, rotationY, rotationZ
    /// The orientation as angles, in rad: yaw is positive to the left, pitch is positive upwards,
    /// and roll is positive if the right ear is down. The profile's `axes` do not apply to angles.
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

    static let quaternion: Set<Signal> = [.quaternionW, .quaternionX, .quaternionY, .quaternionZ]
    static let rotation: Set<Signal> = [.rotationX, .rotationY, .rotationZ]
    static let angles: Set<Signal> = [.yaw, .pitch, .roll]
    static let motion: Set<Signal> = [.rateX, .rateY, .rateZ, .forceX, .forceY, .forceZ]
    /// The sets of signals that each form a complete orientation. The angles are not included,
    /// because a profile may have only some of them.
    static let orientations = [quaternion, rotation]
  }

  /// How bytes encode a number. Numbers of two or more bytes are little-endian, unless the name of
  /// the type ends with `be`.
  public enum NumberType: String, Sendable, CaseIterable {
    case u8, i8, u16, i16, u24, i24, u32, i32, f32, f64
    case u16be, i16be, u24be, i24be, u32be, i32be, f32be, f64be
    /// Two MIDI data bytes of seven bits each.
    case u14, i14, u14be, i14be

    /// Size in bytes.
    public var size: Int {
      switch self {
      case .u8, .i8: 1
      case .u16, .i16, .u16be, .i16be, .u14, .i14, .u14be, .i14be: 2
      case .u24, .i24, .u24be, .i24be: 3
      case .f64, .f64be: 8
      default: 4
      }
    }
  }

  /// The position of a number in a frame.
  public enum Place: Sendable, Equatable {
    /// The number is at a byte offset in the frame. If a HID report has an ID, the ID is the byte
    /// at offset 0.
    case byte(Int, NumberType)
    /// The number is the raw value of an element of a HID report. Element 0 has this usage, and the
    /// later elements follow it in the same field.
    case usage(HIDUsage, element: Int)
    /// The number has this name in the pattern of a text frame.
    case name(String)
    /// The number is 128 times the value of the MIDI controller `most`, plus the value of the
    /// controller `least`: 0 to 16383. The channel is from 1 to 16.
    case controllers(most: UInt8, least: UInt8, channel: UInt8)
  }

  /// A number in a frame: value = raw * scale + offset.
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
}

extension TrackerProfile.NumberType {
  /// Returns the number at a byte offset; nil if the frame does not contain all bytes of the
  /// number, or if a byte of a MIDI number is above 127.
  func value(_ frame: [UInt8], _ at: Int) -> Double? {
    guard at >= 0, at <= frame.count - size else { return nil }
    switch self {
    case .u8: return Double(frame[at])
    case .i8: return Double(Int8(bitPattern: frame[at]))
    case .u16: return Double(frame.u16(at))
    case .i16: return Double(frame.i16(at))
    case .u24: return Double(UInt32(bitPattern: frame.i24(at)) & 0xFF_FFFF)
    case .i24: return Double(frame.i24(at))
    case .u32: return Double(frame.u32(at))
    case .i32: return Double(Int32(bitPattern: frame.u32(at)))
    case .f32: return Double(Float(bitPattern: frame.u32(at)))
    case .f64: return Double(bitPattern: frame.u64(at))
    case .u14, .i14: return Self.midi(frame[at + 1], frame[at], isSigned: self == .i14)
    case .u14be, .i14be: return Self.midi(frame[at], frame[at + 1], isSigned: self == .i14be)
    default: return turned?.value(Array(frame[at..<at + size].reversed()), 0)
    }
  }

  /// The little-endian type that corresponds to this big-endian type; nil for the other types and
  /// for all MIDI types.
  private var turned: Self? {
    switch self {
    case .u16be: .u16
    case .i16be: .i16
    case .u24be: .u24
    case .i24be: .i24
    case .u32be: .u32
    case .i32be: .i32
    case .f32be: .f32
    case .f64be: .f64
    default: nil
    }
  }

  private static func midi(_ most: UInt8, _ least: UInt8, isSigned: Bool) -> Double? {
    guard most < 0x80, least < 0x80 else { return nil }
    let value = Int(most) << 7 | Int(least)
    return Double(isSigned && value >= 0x2000 ? value - 0x4000 : value)
  }
}
