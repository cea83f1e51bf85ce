// SPDX-License-Identifier: Apache-2.0

import CRealtime

/// The driver of one family of trackers: how to start and stop a tracker, and what its reports
/// mean.
///
/// A driver converts readings to the project's axes (x front, y left, z up), SI units and
/// CLOCK_MONOTONIC nanoseconds. A report may contain arbitrary bytes, which the
/// driver must handle safely.
protocol TrackerDriver {
  /// A readable name of the device or of its protocol, such as `#AndroidHeadTracker#1.0` or
  /// `DualSense`.
  var protocolDescription: String { get }
  /// The size of the buffer for an input report, in bytes; 64 by default.
  var inputLength: Int { get }
  /// Whether the device's own reference frame survives an interruption of a wireless link; false by
  /// default.
  var keepsReference: Bool { get }

  /// Makes the device send its measurements. Called again if the device stops sending.
  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError)
  /// Keeps the device sending. While the device is open, this is called before each wait for
  /// reports, usually many times per second.
  ///
  /// - Parameter now: the present time, in CLOCK_MONOTONIC nanoseconds.
  mutating func keepAlive(_ link: some TrackerLink, now: Int64)
  mutating func stop(_ link: some TrackerLink)

  /// Decodes an input report to readings, oldest first. Returns an empty array if the report is
  /// valid but contains no readings, and nil if the report is invalid.
  ///
  /// - Parameters:
  ///   - report: the report as read, with its id if the device numbers its reports.
  ///   - arrival: the arrival time of the report, in CLOCK_MONOTONIC nanoseconds.
  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]?
}

extension TrackerDriver {
  var inputLength: Int { 64 }
  var keepsReference: Bool { false }
  mutating func keepAlive(_ link: some TrackerLink, now: Int64) {}
  mutating func stop(_ link: some TrackerLink) {}
}

/// A driver's connection to its device. Tests replace the device with a simulated one.
protocol TrackerLink: HIDFeatures {
  /// The kernel's driver for the device, such as `hid-generic`; empty if unknown.
  var kernelDriver: String { get }
  func write(_ report: [UInt8]) throws(HeadTrackingError)
  func read(into buffer: inout [UInt8], timeoutMilliseconds: Int) -> HIDDevice.ReadResult
}

extension TrackerLink {
  /// Reads reports until `answer` returns a result for one of them, and returns that result.
  /// Reports for which `answer` returns nil are dropped. Returns nil if the time limit passes or
  /// the device is gone.
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
