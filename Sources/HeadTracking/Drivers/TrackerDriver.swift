// SPDX-License-Identifier: Apache-2.0

import CRealtime

/// What a driver makes of a report.
enum TrackerReading: Sendable, Equatable {
  /// An orientation that the device has fused itself.
  case head(HeadSample)
  /// A raw reading, to be fused here.
  case inertial(InertialSample)
  /// The button that makes where the head looks the front has gone down.
  case recenterButton
}

/// The knowledge of one family of trackers: how it is started, what its reports mean, how it is
/// stopped.
///
/// A driver turns readings into the axes of the house (x front, y left, z up), SI units and
/// CLOCK_MONOTONIC nanoseconds. It must take any bytes for a report.
protocol TrackerDriver {
  /// What the device is, for people; such as `#AndroidHeadTracker#1.0` or `DualSense`.
  var protocolDescription: String { get }
  /// Bytes of the longest input report.
  var inputLength: Int { get }
  /// True where the device's own reference frame survives a break of a wireless link.
  var keepsReference: Bool { get }

  /// Has the device send what it measures; called again when it falls silent.
  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError)
  /// Called every 50 ms or oftener while the device is open.
  mutating func keepAlive(_ link: some TrackerLink, now: Int64)
  mutating func stop(_ link: some TrackerLink)

  /// The readings of an input report, oldest first; nil where it is no report of the device's.
  ///
  /// - Parameters:
  ///   - report: as read, with its id where the device numbers its reports.
  ///   - arrival: CLOCK_MONOTONIC nanoseconds.
  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]?
}

extension TrackerDriver {
  var inputLength: Int { 64 }
  var keepsReference: Bool { false }
  mutating func keepAlive(_ link: some TrackerLink, now: Int64) {}
  mutating func stop(_ link: some TrackerLink) {}
}

/// A driver's way to its device; tests put a pretended device behind it.
protocol TrackerLink: HIDFeatures {
  /// The kernel's driver for the device, such as `hid-generic`; empty where unknown.
  var kernelDriver: String { get }
  func write(_ report: [UInt8]) throws(HeadTrackingError)
  func read(into buffer: inout [UInt8], timeoutMilliseconds: Int) -> HIDDevice.ReadResult
}

extension TrackerLink {
  /// The first report within the time for which `answer` has one; others are dropped.
  func reply<Answer>(
    withinMilliseconds limit: Int, length: Int = 64, _ answer: ([UInt8]) -> Answer?
  ) -> Answer? {
    var buffer = [UInt8](repeating: 0, count: length)
    let end = monotonic_nanoseconds() + Int64(limit) * 1_000_000
    while monotonic_nanoseconds() < end {
      switch read(into: &buffer, timeoutMilliseconds: 20) {
      case .gone: return nil
      case .nothing: continue
      case .report(let length):
        if let answer = answer(Array(buffer.prefix(length))) { return answer }
      }
    }
    return nil
  }
}
