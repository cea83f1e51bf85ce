// SPDX-License-Identifier: Apache-2.0

import CRealtime

/// The driver of one family of trackers.
///
/// A driver converts readings to the axes and units of `HeadSample` and `InertialSample`. It must
/// be safe for arbitrary report bytes.
protocol TrackerDriver {
  /// The name of the device or of its protocol, for the user.
  var protocolDescription: String { get }
  /// The buffer size for an input report, in bytes; 64 by default.
  var inputLength: Int { get }
  /// Whether the device's reference frame survives an interruption of the wireless link.
  var keepsReference: Bool { get }

  /// Makes the device send its measurements. Called again if the device stops sending.
  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError)
  /// Keeps the device sending. Called before each wait for reports. `now` is in CLOCK_MONOTONIC
  /// nanoseconds.
  mutating func keepAlive(_ link: some TrackerLink, now: Int64)
  mutating func stop(_ link: some TrackerLink)

  /// Decodes an input report into readings, oldest first; nil if the report is invalid. Returns an
  /// empty array for a valid report without readings.
  ///
  /// - Parameters:
  ///   - report: the report as read, with its ID if the device numbers its reports.
  ///   - arrival: the arrival time, in CLOCK_MONOTONIC nanoseconds.
  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]?
}

extension TrackerDriver {
  var inputLength: Int { 64 }
  var keepsReference: Bool { false }
  mutating func keepAlive(_ link: some TrackerLink, now: Int64) {}
  mutating func stop(_ link: some TrackerLink) {}
}

/// A driver's connection to its device.
protocol TrackerLink: HIDFeatures {
  /// The kernel's driver for the device, such as `hid-generic`; empty if unknown.
  var kernelDriver: String { get }
  func write(_ report: [UInt8]) throws(HeadTrackingError)
  func read(into buffer: inout [UInt8], timeoutMilliseconds: Int) -> HIDDevice.ReadResult
}

extension TrackerLink {
  /// Reads reports until `answer` returns a result, and returns the result. Returns nil after the
  /// time limit, or if the device is gone.
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
