// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import HeadTracking

/// Delivers the received packets of a capture at the original speed.
struct FrameReplay: Sendable {
  /// A packet and the time at which it is due, in CLOCK_MONOTONIC nanoseconds.
  typealias Packet = (bytes: [UInt8], time: Int64)

  /// When the replay began, in CLOCK_MONOTONIC nanoseconds.
  let start = monotonic_nanoseconds()
  private var rest: ArraySlice<FrameCapture.Frame>

  init(_ frames: [FrameCapture.Frame]) {
    rest = frames.filter { $0.direction == .received }[...]
  }

  /// Waits until a packet is due or the timeout has passed. Returns the packets that are due,
  /// oldest first; nil if no packet is left.
  mutating func next(timeoutMilliseconds: Int) -> [Packet]? {
    guard let next = rest.first else { return nil }
    let wait = min(due(next) - monotonic_nanoseconds(), Int64(timeoutMilliseconds) * 1_000_000)
    if wait > 0 { usleep(UInt32(wait / 1000)) }
    let now = monotonic_nanoseconds()
    var packets: [Packet] = []
    while let frame = rest.first, due(frame) <= now {
      rest = rest.dropFirst()
      packets.append((frame.bytes, due(frame)))
    }
    return packets
  }

  private func due(_ frame: FrameCapture.Frame) -> Int64 { start + Int64(frame.time * 1e9) }
}

/// Replays a capture of a Bluetooth LE tracker or of a tracker with a profile.
struct PacketReplay: TrackerConnection {
  private var replay: FrameReplay
  private var session: any LowEnergyProtocol
  private let atEnd: @Sendable () -> Void

  /// - Parameter atEnd: called by `listen` if no packet is left.
  init(
    _ frames: [FrameCapture.Frame], _ session: any LowEnergyProtocol,
    atEnd: @escaping @Sendable () -> Void
  ) {
    (replay, self.session, self.atEnd) = (FrameReplay(frames), session, atEnd)
  }

  var keepsReference: Bool { false }
  var restartsItself: Bool { true }
  mutating func restart() {}
  mutating func close() {}

  mutating func listen(timeoutMilliseconds: Int) -> TrackerNews {
    guard let packets = replay.next(timeoutMilliseconds: timeoutMilliseconds) else {
      atEnd()
      return .gone
    }
    var readings: [TrackerReading] = []
    var rejected = 0
    for packet in packets {
      if let found = session.decode(packet.bytes, arrival: packet.time) {
        readings += found
      } else {
        rejected += 1
      }
    }
    return packets.isEmpty ? .nothing : .readings(readings, rejected: rejected)
  }
}

/// Replays a capture of earphones.
struct EarphoneReplay: TrackerConnection {
  private var replay: FrameReplay
  private var session: any EarphoneProtocol
  private let atEnd: @Sendable () -> Void

  /// - Parameter atEnd: called by `listen` if no packet is left.
  init(
    _ frames: [FrameCapture.Frame], _ session: any EarphoneProtocol,
    atEnd: @escaping @Sendable () -> Void
  ) {
    (replay, self.session, self.atEnd) = (FrameReplay(frames), session, atEnd)
    _ = self.session.open(now: replay.start)
  }

  var keepsReference: Bool { true }
  var levelsOnRecenter: Bool { session.levelsOnRecenter }
  var restartsItself: Bool { true }
  mutating func restart() {}
  mutating func close() {}

  mutating func listen(timeoutMilliseconds: Int) -> TrackerNews {
    guard let packets = replay.next(timeoutMilliseconds: timeoutMilliseconds) else {
      atEnd()
      return .gone
    }
    var output = EarphoneOutput()
    for packet in packets {
      output += session.receive(packet.bytes, now: max(packet.time, replay.start))
    }
    // `advance` may return a reading that repeats the last pose. Packets to send are ignored.
    output += session.advance(now: monotonic_nanoseconds())
    guard !output.readings.isEmpty || output.rejectedCount > 0 else { return .nothing }
    return .readings(output.readings, rejected: output.rejectedCount)
  }
}
