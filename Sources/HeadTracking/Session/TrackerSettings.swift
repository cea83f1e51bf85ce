// SPDX-License-Identifier: Apache-2.0

/// What a session is to know of trackers beyond what they say of themselves.
public struct TrackerSettings: Sendable, Equatable {
  /// How the tracker's axes lie on the head; nil: as its driver or profile says.
  public var axes: AxisMap?
  /// Simple HID trackers that have no driver of their own.
  public var profiles: [TrackerProfile]
  /// Where Linux shows industrial I/O sensors.
  public var sensorFolder: String
  /// How raw samples become orientations.
  public var fusion: FusionSettings

  public init(
    axes: AxisMap? = nil, profiles: [TrackerProfile] = [],
    sensorFolder: String = "/sys/bus/iio/devices", fusion: FusionSettings = .default
  ) {
    self.axes = axes
    self.profiles = profiles
    self.sensorFolder = sensorFolder
    self.fusion = fusion
  }
}

/// What a tracker is made for.
public enum TrackerKind: String, Sendable, Equatable {
  /// Worn on the head.
  case head
  /// A game controller: a good sensor, but nobody's head until it is asked for.
  case controller
  /// The sensor of the machine itself.
  case device
}
