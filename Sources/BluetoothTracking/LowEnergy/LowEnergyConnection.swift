// SPDX-License-Identifier: Apache-2.0

import CRealtime
import DBus
import Glibc
import HeadTracking

/// An open Bluetooth LE tracker: a link and the protocol on it.
struct LowEnergyConnection: TrackerConnection {
  private let link: GATTLink
  private var session: any LowEnergyProtocol
  private let isCalibrated: Bool
  private let lost: @Sendable () -> Void
  private let capture: FrameCapture?
  private var keepAliveDue = Int64.min
  private var buffer = [UInt8](repeating: 0, count: 1024)

  /// The maximum number of notifications that one call of `listen` receives.
  private static let mostNotifications = 64

  /// Sends the writes that start the tracker.
  ///
  /// - Parameters:
  ///   - isCalibrated: whether a calibration exists or is being measured.
  ///   - capture: records all notifications and writes; nil to record none.
  ///   - lost: called when the link is lost, but not by `close()`.
  init(
    _ link: GATTLink, _ session: any LowEnergyProtocol, isCalibrated: Bool,
    capture: FrameCapture? = nil, lost: @escaping @Sendable () -> Void
  ) throws(BusError) {
    (self.link, self.session, self.isCalibrated) = (link, session, isCalibrated)
    (self.lost, self.capture) = (lost, capture)
    for write in session.startWrites { try send(write) }
  }

  private func send(_ write: GATTWrite) throws(BusError) {
    capture?.add(write.bytes, .sent, time: monotonic_nanoseconds())
    try link.write(write)
  }

  var keepsReference: Bool { session.keepsReference }
  var levelsOnRecenter: Bool { !isCalibrated }
  var restartsItself: Bool { session.toleratesSilence }

  mutating func restart() {
    for write in session.startWrites { try? send(write) }
  }

  mutating func close() {
    for write in session.stopWrites { try? send(write) }
  }

  mutating func listen(timeoutMilliseconds: Int) -> TrackerNews {
    if let (writes, period) = session.keepAlive, monotonic_nanoseconds() >= keepAliveDue {
      keepAliveDue = monotonic_nanoseconds() + period
      for write in writes { try? send(write) }
    }
    var request = pollfd(fd: link.descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&request, 1, Int32(timeoutMilliseconds)) > 0 else { return .nothing }
    var readings: [TrackerReading] = []
    var (count, rejected) = (0, 0)
    while count < Self.mostNotifications {
      let length = read(link.descriptor, &buffer, buffer.count)
      if length < 0, errno == EINTR { continue }
      if length < 0, errno == EAGAIN { break }
      guard length > 0 else {
        lost()
        return .gone
      }
      count += 1
      let arrival = monotonic_nanoseconds()
      let notification = Array(buffer.prefix(length))
      capture?.add(notification, .received, time: arrival)
      if let found = session.decode(notification, arrival: arrival) {
        readings += found
      } else {
        rejected += 1
      }
    }
    return count == 0 ? .nothing : .readings(readings, rejected: rejected)
  }
}
