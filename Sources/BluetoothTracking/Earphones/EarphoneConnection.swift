// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import HeadTracking

/// An open link to earphones: a socket and the protocol on it.
struct EarphoneConnection: TrackerConnection {
  private let socket: Socket
  private var session: any EarphoneProtocol
  private let capture: FrameCapture?
  private let observer: Observer
  private var remembered: EarphoneMemory?
  private var buffer = [UInt8](repeating: 0, count: 4096)

  /// The maximum number of packets that one call of `listen` receives.
  private static let mostPackets = 64

  /// How long `close` waits for the last packets to be sent, in microseconds.
  private static let flushMicroseconds: UInt32 = 60_000

  /// Owns a socket's descriptor, and closes it on deinitialisation.
  final class Socket {
    let descriptor: Int32
    private let owner: AnyObject?

    /// Takes ownership of a connected descriptor. Keeps `owner`, such as the profile that opened
    /// the descriptor, until the socket is released.
    init(_ descriptor: Int32, owner: AnyObject? = nil) {
      self.descriptor = descriptor
      self.owner = owner
    }

    deinit { Glibc.close(descriptor) }
  }

  /// Functions that `listen` calls, on its thread.
  struct Observer: Sendable {
    /// Called when the protocol's `memory` changes.
    var remember: @Sendable (EarphoneMemory) -> Void = { _ in }
    /// Called when the link is lost or must be reopened, but not by `close()`.
    var lost: @Sendable () -> Void = {}
  }

  /// Begins the protocol on a connected, non-blocking socket, and sends its first packets.
  init(
    _ socket: Socket, _ session: any EarphoneProtocol, capture: FrameCapture? = nil,
    observer: Observer = Observer()
  ) {
    self.socket = socket
    self.session = session
    self.capture = capture
    self.observer = observer
    remembered = session.memory
    let opening = self.session.open(now: monotonic_nanoseconds())
    send(opening.packets)
  }

  /// What the earphones have reported about themselves.
  var details: EarphoneDetails { session.details }

  /// True, because earphones keep computing their orientation while the link is interrupted.
  var keepsReference: Bool { true }
  var levelsOnRecenter: Bool { session.levelsOnRecenter }
  /// True, because the protocols have their own rules for silent earphones.
  var restartsItself: Bool { true }

  mutating func restart() {}

  mutating func close() {
    send(session.close(now: monotonic_nanoseconds()))
    // The kernel may discard packets that are still queued when the socket is closed.
    usleep(Self.flushMicroseconds)
  }

  mutating func listen(timeoutMilliseconds: Int) -> TrackerNews {
    var output = session.advance(now: monotonic_nanoseconds())
    var isGone = !send(output.packets) || output.needsReopening
    // A reading that is due must not wait for the earphones.
    let wait = output.readings.isEmpty ? timeoutMilliseconds : 0
    isGone = isGone || !receive(&output, waitMilliseconds: wait)
    if isGone { session.lost(now: monotonic_nanoseconds()) }
    if let memory = session.memory, memory != remembered {
      remembered = memory
      observer.remember(memory)
    }
    if isGone {
      observer.lost()
      return .gone
    }
    guard !output.readings.isEmpty || output.rejectedCount > 0 else { return .nothing }
    return .readings(output.readings, rejected: output.rejectedCount)
  }

  /// Receives packets, and waits at most `waitMilliseconds` for the first. Returns false if the
  /// link is lost or must be reopened.
  private mutating func receive(_ output: inout EarphoneOutput, waitMilliseconds: Int) -> Bool {
    var request = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&request, 1, Int32(waitMilliseconds)) > 0 else { return true }
    for _ in 0..<Self.mostPackets {
      let length = recv(socket.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if length < 0, errno == EINTR { continue }
      if length < 0 { return errno == EAGAIN }
      guard length > 0 else { return false }
      let now = monotonic_nanoseconds()
      let packet = Array(buffer.prefix(length))
      capture?.add(packet, .received, time: now)
      let news = session.receive(packet, now: now)
      output += news
      guard send(news.packets) else { return false }
      if news.needsReopening { return false }
    }
    return true
  }

  /// Sends packets. Returns false if the link is lost.
  @discardableResult
  private func send(_ packets: [[UInt8]]) -> Bool {
    for packet in packets {
      capture?.add(packet, .sent, time: monotonic_nanoseconds())
      // If the socket's buffer is full, the packet is dropped. If no reports follow, the protocols
      // start the sensor again or request a new link.
      let sent = Glibc.send(
        socket.descriptor, packet, packet.count, Int32(MSG_NOSIGNAL))
      if sent < 0, errno != EAGAIN, errno != EINTR { return false }
    }
    return true
  }
}
