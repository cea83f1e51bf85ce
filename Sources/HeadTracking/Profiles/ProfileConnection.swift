// SPDX-License-Identifier: Apache-2.0

import CRealtime

/// A connection that carries bytes, such as a serial port or a socket. It belongs to one thread.
package protocol ByteLink {
  /// Waits for bytes and returns those that are available.
  mutating func read(timeoutMilliseconds: Int) -> ByteNews
  /// Writes as many of the bytes as possible without waiting long.
  mutating func write(_ bytes: [UInt8])
}

/// The result of waiting for bytes.
package enum ByteNews: Sendable, Equatable {
  /// What arrived: pieces of a stream, or datagrams.
  case bytes([[UInt8]])
  case nothing
  case gone
}

/// An open tracker that a `TrackerProfile` describes, on a link that carries bytes.
package struct ProfileConnection<Link: ByteLink>: TrackerConnection {
  private var link: Link
  private let profile: TrackerProfile
  private var stream: ProfileStream
  private let capture: FrameCapture?
  /// Whether a silent connection counts as lost.
  private let endsSilent: Bool
  /// When the start bytes are due, in CLOCK_MONOTONIC nanoseconds; nil if they have been sent.
  private var startDue: Int64?
  private var keepAliveDue = Int64.min
  private var isGone = false

  /// Takes over an open link. Sends the start bytes at once or, if the profile delays them, in a
  /// later call of `listen`.
  ///
  /// - Parameters:
  ///   - axes: the mounting of the tracker on the head; nil to use the profile's `axes`.
  ///   - capture: records the bytes that are received and sent; nil to record none.
  ///   - endsSilent: whether a connection without bytes for 2 s counts as lost.
  package init(
    _ link: Link, _ profile: TrackerProfile, axes: AxisMap?, capture: FrameCapture? = nil,
    endsSilent: Bool = false
  ) {
    (self.link, self.profile, self.capture) = (link, profile, capture)
    self.endsSilent = endsSilent
    stream = ProfileStream(profile, axes: axes)
    startDue = monotonic_nanoseconds() + Int64(profile.start.delayMilliseconds) * 1_000_000
    capture?.source = "profile:\(profile.name)"
    sendDue()
  }

  package var keepsReference: Bool { false }

  package mutating func listen(timeoutMilliseconds: Int) -> TrackerNews {
    guard !isGone else { return .gone }
    sendDue()
    switch link.read(timeoutMilliseconds: timeoutMilliseconds) {
    case .gone: return .gone
    case .nothing: return .nothing
    case .bytes(let pieces):
      let arrival = monotonic_nanoseconds()
      var readings: [TrackerReading] = []
      var rejected = 0
      for piece in pieces {
        capture?.add(piece, .received, time: arrival)
        let found = stream.decode(piece, arrival: arrival)
        readings += found.readings
        rejected += found.rejectedCount
      }
      return .readings(readings, rejected: rejected)
    }
  }

  package mutating func restart() {
    if endsSilent { isGone = true }
    startDue = monotonic_nanoseconds()
  }

  package mutating func close() {
    for packet in profile.stop.packets { send(packet) }
  }

  /// Sends the start bytes and the keep-alive bytes when they are due.
  private mutating func sendDue() {
    let now = monotonic_nanoseconds()
    if let due = startDue {
      guard now >= due else { return }
      for packet in profile.start.packets { send(packet) }
      startDue = nil
      keepAliveDue = now
    }
    guard !profile.keepAlive.packets.isEmpty, now >= keepAliveDue else { return }
    keepAliveDue = now + Int64(profile.keepAliveSeconds * 1e9)
    for packet in profile.keepAlive.packets { send(packet) }
  }

  private mutating func send(_ packet: [UInt8]) {
    capture?.add(packet, .sent, time: monotonic_nanoseconds())
    link.write(packet)
  }
}
