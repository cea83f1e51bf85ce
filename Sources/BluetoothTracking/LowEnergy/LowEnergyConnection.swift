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
  private var buffer = [UInt8](repeating: 0, count: 1024)

  /// Notifications per call of `listen`.
  private static let mostNotifications = 64

  /// Starts the tracker.
  ///
  /// - Parameters:
  ///   - isCalibrated: whether the mounting of the tracker on the head is known.
  ///   - lost: called when the link is lost, but not by `close()`.
  init(
    _ link: GATTLink, _ session: any LowEnergyProtocol, isCalibrated: Bool,
    lost: @escaping @Sendable () -> Void
  ) throws(BusError) {
    (self.link, self.session, self.isCalibrated) = (link, session, isCalibrated)
    self.lost = lost
    for write in session.startWrites { try link.write(write) }
  }

  var keepsReference: Bool { session.keepsReference }
  var levelsOnRecenter: Bool { !isCalibrated }
  var restartsItself: Bool { session.toleratesSilence }

  mutating func restart() {
    for write in session.startWrites { try? link.write(write) }
  }

  mutating func close() {
    for write in session.stopWrites { try? link.write(write) }
  }

  mutating func listen(timeoutMilliseconds: Int) -> TrackerNews {
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
      if let found = session.decode(Array(buffer.prefix(length)), arrival: arrival) {
        readings += found
      } else {
        rejected += 1
      }
    }
    return count == 0 ? .nothing : .readings(readings, rejected: rejected)
  }
}
