// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry
public import HeadTracking

/// Listens on a UDP port and keeps poses flowing into a `HeadPoseSource`.
///
/// Whoever sends is heard; where the head looks at first is the front. Datagrams that say nothing of
/// a head are counted as rejected. Of several that came at once only the newest is of use.
///
/// ## Threading
/// For any thread. Samples are told on the session's own thread.
public final class NetworkTrackerSession: Sendable {
  private let worker = Worker()
  public let tracker: NetworkTracker
  private let source: HeadPoseSource
  private let record: (@Sendable (HeadSample) -> Void)?

  private static let readMilliseconds = 50

  /// - Parameters:
  ///   - tracker: protocol, port and signs.
  ///   - source: takes the samples.
  ///   - record: hears every sample, on the session's thread.
  public init(
    _ tracker: NetworkTracker, feeding source: HeadPoseSource,
    record: (@Sendable (HeadSample) -> Void)? = nil
  ) {
    self.tracker = tracker
    self.source = source
    self.record = record
  }

  deinit { worker.stop() }

  /// Opens the port and starts the session's thread.
  ///
  /// - Throws: `cannotListen`.
  public func start() throws(NetworkTrackerError) {
    let port = try Port(tracker)
    let (worker, source, record) = (worker, source, record)
    source.beginReference()
    worker.start {
      while !worker.isStopped {
        for head in port.heads(timeoutMilliseconds: Self.readMilliseconds) {
          guard let head else {
            source.reject()
            continue
          }
          let sample = HeadSample(time: monotonic_nanoseconds(), headToWorld: head)
          record?(sample)
          source.push(sample)
        }
      }
    }
  }

  /// Ends the thread, within 100 ms. The session cannot start again.
  public func stop() { worker.stop() }

  /// The open port; used by the session's thread only, once it runs.
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

    /// The newest head of what came, after a nil for each message that told of none.
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
