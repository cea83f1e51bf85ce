// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import HeadTracking

/// Asks AirPods for their charge, firmware version and state, without starting their sensor.
struct AirPodsInquiry {
  /// Sends the opening packets and returns the details from the earphones' notifications. Waits
  /// until the details are complete, the link ends, or the time is `end` (CLOCK_MONOTONIC
  /// nanoseconds).
  mutating func details(
    _ socket: EarphoneConnection.Socket, until end: Int64
  ) -> EarphoneDetails {
    // The protocol starts the sensor only in `advance`, which is not called here.
    var session = AirPodsProtocol()
    for packet in session.open(now: monotonic_nanoseconds()).packets {
      _ = send(socket.descriptor, packet, packet.count, Int32(MSG_NOSIGNAL))
    }
    var buffer = [UInt8](repeating: 0, count: 4096)
    while monotonic_nanoseconds() < end, !isComplete(session.details) {
      var request = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&request, 1, 50) > 0 else { continue }
      let length = recv(socket.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      guard length > 0 else { break }
      _ = session.receive(Array(buffer.prefix(length)), now: monotonic_nanoseconds())
    }
    return session.details
  }

  private func isComplete(_ details: EarphoneDetails) -> Bool {
    !details.battery.isEmpty && !details.firmware.isEmpty && details.state != .unknown
  }
}
