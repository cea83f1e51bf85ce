// SPDX-License-Identifier: Apache-2.0

import HeadTracking

/// The host's part of a Bluetooth LE tracker's protocol, without the transport.
///
/// `decode` must not crash, whatever bytes it is given.
protocol LowEnergyProtocol: Sendable {
  /// The writes that make the tracker send its data. They are sent when the notifications have been
  /// enabled, and again to restart the tracker.
  var startWrites: [GATTWrite] { get }
  /// The writes that make the tracker stop sending its data.
  var stopWrites: [GATTWrite] { get }
  /// The writes that keep the tracker sending, and the interval at which they are repeated, in
  /// nanoseconds; nil if the tracker needs none.
  var keepAlive: (writes: [GATTWrite], period: Int64)? { get }
  /// Whether the tracker's own reference frame survives an interruption of the link.
  var keepsReference: Bool { get }
  /// Whether silence is normal. A silent tracker is then not restarted.
  var toleratesSilence: Bool { get }

  /// Decodes a notification into readings, oldest first; nil if the notification is invalid.
  ///
  /// - Parameter arrival: the arrival time, in CLOCK_MONOTONIC nanoseconds.
  mutating func decode(_ notification: [UInt8], arrival: Int64) -> [TrackerReading]?
}

extension LowEnergyProtocol {
  var stopWrites: [GATTWrite] { [] }
  var keepAlive: (writes: [GATTWrite], period: Int64)? { nil }
  var keepsReference: Bool { false }
  var toleratesSilence: Bool { false }
}

/// Bytes to write to a characteristic.
struct GATTWrite: Sendable, Equatable {
  /// The beginning of the characteristic's UUID.
  var characteristic: String
  var bytes: [UInt8]
  /// Whether the tracker must acknowledge the write.
  var isAcknowledged = true
}

/// A model of Bluetooth LE trackers, built in or described by a profile.
struct LowEnergyModel: Sendable {
  var name: String
  var manufacturer: String
  var evidence: TrackerEvidence
  var kind = TrackerKind.head
  /// Whether the tracker computes its orientation itself.
  var levelsItself: Bool
  var matches: @Sendable (BluetoothDevice) -> Bool
  /// The beginning of the UUID of the characteristic that sends the notifications.
  var notifications: String
  var open: @Sendable (Settings) -> any LowEnergyProtocol

  /// The name of the tracker's protocol in the first line of a capture.
  var source: String {
    name.hasPrefix("profile ") ? "profile:\(name.dropFirst(8))" : "ble:\(FrameFile.word(name))"
  }

  /// The parameters of `open`.
  struct Settings: Sendable {
    /// The mounting of the sensor on the head; nil for the usual mounting.
    var axes: AxisMap?
    /// Whether a calibration exists or is being measured.
    var isCalibrated = false
  }

  private init(
    _ name: String, by manufacturer: String, verifiedWith evidence: TrackerEvidence,
    levelsItself: Bool, notifications: String,
    _ matches: @escaping @Sendable (BluetoothDevice) -> Bool,
    _ open: @escaping @Sendable (Settings) -> any LowEnergyProtocol
  ) {
    (self.name, self.manufacturer, self.evidence) = (name, manufacturer, evidence)
    (self.levelsItself, self.matches) = (levelsItself, matches)
    self.notifications = notifications
    self.open = open
  }

  /// Returns the model that a profile describes; nil if its link is not Bluetooth LE.
  init?(_ profile: TrackerProfile) {
    guard case .ble(let service) = profile.link else { return nil }
    self.init(
      "profile \(profile.name)", by: "", verifiedWith: profile.evidence,
      levelsItself: profile.hasOrientation, notifications: service.notify,
      { device in
        let isNamed = service.name.map(device.name.hasPrefix) ?? true
        let serves = service.service.map { uuid in device.services.contains { $0.hasPrefix(uuid) } }
        return isNamed && serves ?? true
      },
      { ProfiledLowEnergy(profile, service, axes: $0.axes) })
    kind = profile.kind
  }

  /// The built-in models. The first one that matches a device is used.
  static let all = [
    LowEnergyModel(
      "Waves Nx", by: "Waves", verifiedWith: .captures, levelsItself: true,
      notifications: WavesNx.notifications, WavesNx.matches
    ) { WavesNx(isCalibrated: $0.isCalibrated) },
    LowEnergyModel(
      "Xsens DOT", by: "Movella", verifiedWith: .documentation, levelsItself: true,
      notifications: XsensDOT.notifications, XsensDOT.matches
    ) { XsensDOT(axes: $0.axes) },
    LowEnergyModel(
      "WitMotion", by: "WitMotion", verifiedWith: .captures, levelsItself: false,
      notifications: WitMotion.notifications, WitMotion.matches
    ) { WitMotion(axes: $0.axes) },
  ]

  /// Returns the model of a device; nil if the device is not supported. The models in `profiles`
  /// take precedence over the built-in ones.
  static func find(
    _ device: BluetoothDevice, _ profiles: [LowEnergyModel] = []
  ) -> LowEnergyModel? {
    (profiles + all).first { $0.matches(device) }
  }
}
