// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry
import Glibc
public import HeadTracking
import System

/// Listens on a UDP port and passes head poses to a `HeadSampleSink`.
///
/// The session accepts datagrams from any sender. The first pose begins a new reference frame. A
/// message that yields no pose is rejected. If several poses arrive together, only the newest is
/// used.
///
/// ## Threading
/// May be used from any thread. The sink receives the samples on the session's own thread.
public final class NetworkTrackerSession: Sendable {
  private let worker = Worker()
  public let tracker: NetworkTracker
  private let sink: any HeadSampleSink
  private let record: (@Sendable (HeadSample) -> Void)?

  private static let readMilliseconds = 50

  /// Creates a session; `start` begins to listen.
  ///
  /// - Parameters:
  ///   - tracker: the protocol, port and signs.
  ///   - sink: receives the samples.
  ///   - record: called with every sample, on the session's thread.
  public init(
    _ tracker: NetworkTracker, feeding sink: any HeadSampleSink,
    record: (@Sendable (HeadSample) -> Void)? = nil
  ) {
    self.tracker = tracker
    self.sink = sink
    self.record = record
  }

  deinit { worker.stop() }

  /// Opens the port and starts the session's thread.
  ///
  /// - Throws: `cannotListen` if the port cannot be opened.
  public func start() throws(NetworkTrackerError) {
    let port = try Port(tracker)
    let (worker, sink, record) = (worker, sink, record)
    sink.beginReference()
    worker.start {
      while !worker.isStopped {
        for head in port.heads(timeoutMilliseconds: Self.readMilliseconds) {
          guard let head else {
            sink.reject()
            continue
          }
          let sample = HeadSample(time: monotonic_nanoseconds(), headToWorld: head)
          record?(sample)
          sink.push(sample)
        }
      }
    }
  }

  /// Ends the thread, usually within 100 ms. The session cannot start again.
  public func stop() { worker.stop() }

  /// The open port; once the session's thread runs, only that thread uses it.
  private final class Port: @unchecked Sendable {
    private enum Listener {
      case osc(OSCServer, OSCHead)
      case datagrams(DatagramSocket, @Sendable ([UInt8]) -> Quaternion?)
    }
    private var listener: Listener

    init(_ tracker: NetworkTracker) throws(NetworkTrackerError) {
      switch tracker.sender {
      case .osc(let preset):
        listener = .osc(try OSCServer(port: tracker.port), OSCHead(preset))
      case .opentrack(let signs):
        listener = .datagrams(try DatagramSocket(port: tracker.port)) {
          AngleDatagram.opentrack($0, signs)
        }
      case .freepie(let signs):
        listener = .datagrams(try DatagramSocket(port: tracker.port)) {
          AngleDatagram.freepie($0, signs)
        }
      }
    }

    /// Waits for messages, at most for the timeout. Returns an array with a nil for each message
    /// that yields no pose, followed by the newest pose, if there is one.
    func heads(timeoutMilliseconds: Int) -> [Quaternion?] {
      let all: [Quaternion?]
      switch listener {
      case .osc(let server, var head):
        all = server.messages(timeoutMilliseconds: timeoutMilliseconds).map { head.take($0) }
        listener = .osc(server, head)
      case .datagrams(let socket, let decode):
        all = socket.datagrams(timeoutMilliseconds: timeoutMilliseconds).map(decode)
      }
      return all.filter { $0 == nil } + all.compactMap(\.self).suffix(1)
    }
  }
}

/// A UDP socket that receives datagrams on a port.
///
/// ## Threading
/// Use it on one thread only.
final class DatagramSocket {
  private let descriptor: Int32

  /// Opens the port on all IPv4 addresses.
  ///
  /// - Throws: `cannotListen` if the port cannot be opened.
  init(port: Int) throws(NetworkTrackerError) {
    descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | O_CLOEXEC, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw .cannotListen(port: port, reason: reason)
    }
  }

  deinit { close(descriptor) }

  /// Waits for a datagram, at most for the timeout. Returns all datagrams that have arrived, oldest
  /// first, but at most 256. Returns an empty array if no datagram arrives.
  func datagrams(timeoutMilliseconds: Int) -> [[UInt8]] {
    var found: [[UInt8]] = []
    var wait = Int32(timeoutMilliseconds)
    var buffer = [UInt8](repeating: 0, count: 2048)
    while found.count < 256 {
      var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&request, 1, wait) > 0 else { break }
      wait = 0
      let length = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      guard length >= 0 else { break }
      found.append(Array(buffer.prefix(length)))
    }
    return found
  }
}
