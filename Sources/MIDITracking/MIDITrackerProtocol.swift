// SPDX-License-Identifier: Apache-2.0

package import HeadTracking

/// The messages to a MIDI tracker, and the decoding of its messages, without the transport.
///
/// `decode` accepts any message, including one that the tracker would never send.
package protocol MIDITrackerProtocol: Sendable {
  /// The complete MIDI messages that make the tracker start sending samples.
  var startMessages: [[UInt8]] { get }
  /// The delay between opening the port and sending the start messages, in nanoseconds.
  var startDelay: Int64 { get }
  /// The messages that keep the tracker sending, and the interval at which they are sent, in
  /// nanoseconds; nil if none are needed.
  var keepAlive: (messages: [[UInt8]], period: Int64)? { get }
  /// The messages that make the tracker stop sending samples.
  var stopMessages: [[UInt8]] { get }
  /// Nanoseconds without a message after which the tracker counts as lost; nil if it is allowed to
  /// be silent.
  var silenceLimit: Int64? { get }
  /// The time at which `advance` must be called, in CLOCK_MONOTONIC nanoseconds; nil if no call is
  /// needed.
  var due: Int64? { get }

  /// Decodes a message to readings, oldest first; nil if it is invalid.
  ///
  /// - Parameter arrival: the arrival time, in CLOCK_MONOTONIC nanoseconds.
  mutating func decode(_ message: MIDIMessage, arrival: Int64) -> [TrackerReading]?
  /// Returns the readings that are complete at the time `now` because no message has followed; nil
  /// if they are invalid.
  mutating func advance(now: Int64) -> [TrackerReading]?
}

extension MIDITrackerProtocol {
  package var startMessages: [[UInt8]] { [] }
  package var startDelay: Int64 { 0 }
  package var keepAlive: (messages: [[UInt8]], period: Int64)? { nil }
  package var stopMessages: [[UInt8]] { [] }
  package var silenceLimit: Int64? { nil }
  package var due: Int64? { nil }
  package mutating func advance(now: Int64) -> [TrackerReading]? { [] }
}

/// A model of MIDI tracker, recognised by the name of its port or device.
package struct MIDIModel: Sendable {
  /// The settings with which a model creates its protocol.
  package struct Settings: Sendable {
    /// The mounting of the sensor on the head; nil for the usual mounting.
    package var axes: AxisMap?
    /// Whether a calibration exists or is being measured.
    package var isCalibrated = false

    package init(axes: AxisMap? = nil, isCalibrated: Bool = false) {
      (self.axes, self.isCalibrated) = (axes, isCalibrated)
    }
  }

  /// The name of the protocol, as `stillstage trackers` shows it.
  package var name: String
  package var manufacturer: String
  package var kind: TrackerKind
  package var evidence: TrackerEvidence
  /// Whether the tracker computes its orientation itself.
  package var levelsItself: Bool
  /// The possible beginnings of the name of the tracker's port or device.
  package var portPrefixes: [String]
  package var open: @Sendable (Settings) -> any MIDITrackerProtocol

  package init(
    _ name: String, by manufacturer: String, kind: TrackerKind = .head,
    verifiedWith evidence: TrackerEvidence = .documentation, levelsItself: Bool,
    portPrefixes: [String], open: @escaping @Sendable (Settings) -> any MIDITrackerProtocol
  ) {
    (self.name, self.manufacturer, self.kind) = (name, manufacturer, kind)
    (self.evidence, self.levelsItself) = (evidence, levelsItself)
    (self.portPrefixes, self.open) = (portPrefixes, open)
  }
}
