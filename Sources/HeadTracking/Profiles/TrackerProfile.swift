// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// A description of a simple tracker: how it is connected, and what the numbers in its frames mean.
/// A frame is a HID report, a message, or a part of a stream of bytes. See
/// docs/tracker-profiles.md.
public struct TrackerProfile: Sendable, Equatable {
  /// A kind of frame: how its frames are recognised, and which signals they carry.
  public struct FrameKind: Sendable, Equatable {
    /// The values that bytes of the frame must have, by offset.
    public var conditions: [Int: UInt8]
    /// The form of a text frame; nil for other frames.
    public var pattern: TextPattern?
    public var signals: [Signal: Number]

    public init(
      _ signals: [Signal: Number], when conditions: [Int: UInt8] = [:], pattern: TextPattern? = nil
    ) {
      self.signals = signals
      self.conditions = conditions
      self.pattern = pattern
    }
  }

  /// The order of the turns by yaw, pitch and roll.
  public enum AngleOrder: String, Sendable, CaseIterable {
    /// Yaw, then pitch, then roll, each about the turned axes.
    case zyx
    /// Yaw, then roll, then pitch, each about the turned axes.
    case zxy
  }

  /// Bytes to send to the tracker.
  public struct Commands: Sendable, Equatable {
    /// The packets, in the order in which they are sent.
    public var packets: [[UInt8]]
    /// The delay between opening the link and the first packet, in milliseconds. It applies only to
    /// `start`, and not to HID or Bluetooth LE devices.
    public var delayMilliseconds: Int

    public init(_ packets: [[UInt8]] = [], delayMilliseconds: Int = 0) {
      self.packets = packets
      self.delayMilliseconds = delayMilliseconds
    }
  }

  public var name: String
  public var link: Link
  /// The vendor's ID; 0 if the profile has none.
  public var vendorID: UInt16
  /// The product's ID. If it is nil, a HID profile matches any product of the vendor, and a serial
  /// profile matches only ports that the listener names.
  public var productID: UInt16?
  /// The top-level usage that a HID device must have; nil for any.
  public var usage: HIDUsage?
  /// The ID of the HID reports to decode; nil to decode every report.
  public var reportID: UInt8?
  public var kind: TrackerKind
  public var axes: AxisMap
  public var framing: Framing
  /// The kinds of frames that carry signals. The first kind that matches a frame is used for it.
  public var frames: [FrameKind]
  public var order: AngleOrder
  /// Whether the device reports rotations from the world to the sensor.
  public var isInverse: Bool
  /// The rotation to the head's axes that is applied after `axes`; nil for none.
  public var mount: Quaternion?
  /// Seconds per tick of `Signal.clock`.
  public var tickSeconds: Double
  /// Width of `Signal.clock`, in bits.
  public var clockBits: Int
  /// Feature reports that start a HID device, each beginning with its ID.
  public var startFeatures: [[UInt8]]
  /// The bytes that start the device. For HID, these are output reports, each beginning with its
  /// ID. They are sent after `startFeatures`.
  public var start: Commands
  /// The bytes that stop the device, in the same form as `start`.
  public var stop: Commands
  /// The bytes that keep the device sending, in the same form as `start`.
  public var keepAlive: Commands
  /// The interval at which `keepAlive` is sent, in seconds.
  public var keepAliveSeconds: Double
  /// What the profile was verified with.
  public var evidence: TrackerEvidence

  public init(
    name: String, vendorID: UInt16 = 0, productID: UInt16? = nil, usage: HIDUsage? = nil,
    reportID: UInt8? = nil, kind: TrackerKind = .head, axes: AxisMap = .frontLeftUp,
    signals: [Signal: Number] = [:], tickSeconds: Double = 1e-6, clockBits: Int = 32,
    startFeatures: [[UInt8]] = [], startOutputs: [[UInt8]] = []
  ) {
    self.name = name
    self.vendorID = vendorID
    self.productID = productID
    self.usage = usage
    self.reportID = reportID
    self.kind = kind
    self.axes = axes
    self.tickSeconds = tickSeconds
    self.clockBits = clockBits
    self.startFeatures = startFeatures
    link = .hid
    framing = .message
    frames = [FrameKind(signals)]
    order = .zyx
    isInverse = false
    start = Commands(startOutputs)
    stop = Commands()
    keepAlive = Commands()
    keepAliveSeconds = 1
    evidence = .documentation
  }

  /// The signals of all kinds of frames. If several kinds have a signal, the first kind counts.
  public var signals: [Signal: Number] {
    frames.reduce(into: [:]) { $0.merge($1.signals) { first, _ in first } }
  }

  /// Whether the tracker computes its orientation itself.
  public var hasOrientation: Bool {
    let has = Set(signals.keys)
    return Signal.orientations.contains(where: has.isSuperset)
      || !has.isDisjoint(with: Signal.angles)
  }
}
