// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import HeadTracking

/// A connection that passes the received packets of a capture to a protocol, at the original speed.
struct FrameReplay: TrackerConnection {
  private var rest: ArraySlice<FrameCapture.Frame>
  private var session: any LowEnergyProtocol
  private let start = monotonic_nanoseconds()
  private let atEnd: @Sendable () -> Void

  init(
    _ frames: [FrameCapture.Frame], _ session: any LowEnergyProtocol,
    atEnd: @escaping @Sendable () -> Void
  ) {
    rest = frames.filter { $0.direction == .received }[...]
    (self.session, self.atEnd) = (session, atEnd)
  }

  var keepsReference: Bool { false }
  var restartsItself: Bool { true }
  mutating func restart() {}
  mutating func close() {}

  mutating func listen(timeoutMilliseconds: Int) -> TrackerNews {
    guard let next = rest.first else {
      atEnd()
      return .gone
    }
    let wait = min(due(next) - monotonic_nanoseconds(), Int64(timeoutMilliseconds) * 1_000_000)
    if wait > 0 { usleep(UInt32(wait / 1000)) }
    let now = monotonic_nanoseconds()
    var readings: [TrackerReading] = []
    var (count, rejected) = (0, 0)
    while let frame = rest.first, due(frame) <= now {
      rest = rest.dropFirst()
      count += 1
      if let found = session.decode(frame.bytes, arrival: due(frame)) {
        readings += found
      } else {
        rejected += 1
      }
    }
    return count == 0 ? .nothing : .readings(readings, rejected: rejected)
  }

  private func due(_ frame: FrameCapture.Frame) -> Int64 { start + Int64(frame.time * 1e9) }
}
