// SPDX-License-Identifier: Apache-2.0

package import HeadTracking

/// The host's part of an earphone protocol, without the transport.
///
/// All times are CLOCK_MONOTONIC, in nanoseconds. `receive` must not crash, whatever bytes it is
/// given.
package protocol EarphoneProtocol: Sendable {
  /// Begins the protocol on a new link. It is called once, before the other methods.
  mutating func open(now: Int64) -> EarphoneOutput
  /// Takes bytes from the earphones: one packet on a packet link, or any part of a byte stream.
  mutating func receive(_ bytes: [UInt8], now: Int64) -> EarphoneOutput
  /// Returns the packets and readings that are due at this time. It is called regularly, even if no
  /// bytes arrive.
  mutating func advance(now: Int64) -> EarphoneOutput
  /// Records that the link broke or is about to be reopened. This can change `memory`.
  mutating func lost(now: Int64)
  /// Returns the packets that stop the sensor.
  mutating func close(now: Int64) -> [[UInt8]]

  /// What the earphones have reported about themselves.
  var details: EarphoneDetails { get }
  /// What to remember about this device; nil if there is nothing.
  var memory: EarphoneMemory? { get }
  /// Whether recentring also assumes that the head is upright, because the mounting is known only
  /// roughly.
  var levelsOnRecenter: Bool { get }
}

/// What `open`, `receive` and `advance` of an `EarphoneProtocol` return.
package struct EarphoneOutput: Sendable, Equatable {
  /// Packets to send now, in order.
  package var packets: [[UInt8]]
  /// Readings, oldest first.
  package var readings: [TrackerReading]
  /// The number of reports or frames that were invalid.
  package var rejectedCount: Int
  /// Whether the link has become unusable and must be closed and opened again.
  package var needsReopening: Bool

  package init(
    packets: [[UInt8]] = [], readings: [TrackerReading] = [], rejectedCount: Int = 0,
    needsReopening: Bool = false
  ) {
    self.packets = packets
    self.readings = readings
    self.rejectedCount = rejectedCount
    self.needsReopening = needsReopening
  }

  package static func + (a: EarphoneOutput, b: EarphoneOutput) -> EarphoneOutput {
    EarphoneOutput(
      packets: a.packets + b.packets, readings: a.readings + b.readings,
      rejectedCount: a.rejectedCount + b.rejectedCount,
      needsReopening: a.needsReopening || b.needsReopening)
  }

  package static func += (a: inout EarphoneOutput, b: EarphoneOutput) { a = a + b }
}
