// SPDX-License-Identifier: Apache-2.0

/// The settings for listing, opening and reading trackers.
public struct TrackerSettings: Sendable {
  /// The mounting of the tracker on the head; nil for the default mounting of the tracker.
  public var axes: AxisMap?
  /// Descriptions of simple trackers, which take precedence over the built-in drivers.
  public var profiles: [TrackerProfile]
  /// The folder of Linux's industrial I/O sensors.
  public var sensorFolder: String
  /// The settings of the orientation filter for raw samples.
  public var fusion: FusionSettings
  /// Providers in addition to HID and industrial I/O.
  package var providers: [any TrackerProvider] = []
  /// The Bluetooth address of the current output; nil if there is none. Automatic selection prefers
  /// the tracker with this address.
  package var outputAddress: @Sendable () -> String? = { nil }
  /// Whether to end a search for HID trackers early. It is polled during the search.
  package var isCancelled: @Sendable () -> Bool = { false }
  /// Whether a search for HID trackers may end soon after it has found a usable head tracker.
  package var takesFirst = false
  /// Records the packets of the tracker that is opened; nil to record none.
  package var capture: FrameCapture?
  /// Whether to open trackers as if they were calibrated.
  package var isCalibrating = false

  public init(
    axes: AxisMap? = nil, profiles: [TrackerProfile] = [],
    sensorFolder: String = "/sys/bus/iio/devices", fusion: FusionSettings = .default
  ) {
    self.axes = axes
    self.profiles = profiles
    self.sensorFolder = sensorFolder
    self.fusion = fusion
  }

  var allProviders: [any TrackerProvider] {
    [HIDTrackers(settings: self), SensorTrackers(settings: self)] + providers
  }
}

/// The purpose of a tracker.
public enum TrackerKind: String, Sendable, Equatable {
  /// Worn on the head.
  case head
  /// A game controller, which serves as a head tracker only on request.
  case controller
  /// Part of the computer itself, or of an object such as a seat.
  case device
}
