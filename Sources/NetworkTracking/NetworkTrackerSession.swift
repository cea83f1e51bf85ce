// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry
public import HeadTracking
import System

/// Listens on a UDP port and passes head poses to a `HeadSampleSink`.
///
/// `start` announces a new reference frame to the sink. A message that yields no pose is counted as
/// rejected. If several poses arrive together, only the newest is used.
///
/// ## Threading
/// Any thread may use a session. The sink receives the samples on the session's own thread.
public final class NetworkTrackerSession: Sendable {
  private let worker = Worker()
  public let tracker: NetworkTracker
  private let sink: any HeadSampleSink
  private let record: (@Sendable (HeadSample) -> Void)?
  private let onSilence: @Sendable (String) -> Void

  /// The time from `start` to the call of `onSilence` if no message has arrived, in nanoseconds.
  private static let silence: Int64 = 5_000_000_000
  /// The time from the first message without a pose to the note about it, in nanoseconds.
  private static let patienceForPose: Int64 = 1_000_000_000
  private static let readMilliseconds = 50

  /// Creates a session; `start` begins to listen.
  ///
  /// - Parameters:
  ///   - tracker: the protocol, address and port.
  ///   - sink: receives the samples.
  ///   - record: called with every sample, on the session's thread.
  ///   - onSilence: called on the session's thread, at most once: with the tracker's `silenceNote`
  ///     if no message arrives within 5 s after `start`, or with a note about the first message
  ///     without a pose if no pose has arrived 1 s after that message.
  public init(
    _ tracker: NetworkTracker, feeding sink: any HeadSampleSink,
    record: (@Sendable (HeadSample) -> Void)? = nil,
    onSilence: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.onSilence = onSilence
    self.tracker = tracker
    self.sink = sink
    self.record = record
  }

  deinit { worker.stop() }

  /// Opens the port and starts the session's thread.
  ///
  /// - Throws: `notOurAddress` if this computer does not have the address; `cannotListen` if the
  ///   port cannot be opened for another reason.
  public func start() throws(NetworkTrackerError) {
    let port = try Port(tracker)
    let (worker, sink, record, onSilence) = (worker, sink, record, onSilence)
    let tracker = tracker
    let note = tracker.silenceNote
    sink.beginReference()
    worker.start {
      var end = monotonic_nanoseconds() + Self.silence
      var isWaiting = true
      var unread: String?
      while !worker.isStopped {
        let heads = port.heads(timeoutMilliseconds: Self.readMilliseconds)
        if isWaiting {
          if unread == nil, let first = port.unread {
            unread = first
            end = monotonic_nanoseconds() + Self.patienceForPose
          }
          if heads.contains(where: { $0 != nil }) {
            isWaiting = false
          } else if monotonic_nanoseconds() > end {
            isWaiting = false
            onSilence(unread.map(tracker.unreadNote) ?? note)
          }
        }
        for head in heads {
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

  /// Ends the thread. The session cannot start again.
  public func stop() { worker.stop() }

  /// The open port; once the session's thread runs, only that thread uses it.
  private final class Port: @unchecked Sendable {
    private enum Decoder {
      case osc(OSCHead)
      case datagrams(@Sendable ([UInt8]) -> Quaternion?)
    }
    private let socket: DatagramSocket
    private var decoder: Decoder
    /// A description of the first message that yielded no pose; nil if there was none.
    private(set) var unread: String?

    init(_ tracker: NetworkTracker) throws(NetworkTrackerError) {
      socket = try DatagramSocket(tracker.address, port: tracker.port)
      switch tracker.sender {
      case .osc(let preset): decoder = .osc(OSCHead(preset))
      case .opentrack(let signs): decoder = .datagrams { AngleDatagram.opentrack($0, signs) }
      case .freepie(let signs): decoder = .datagrams { AngleDatagram.freepie($0, signs) }
      }
    }

    /// Returns a list with one nil for each message that yields no pose, followed by the newest
    /// pose, if there is one.
    func heads(timeoutMilliseconds: Int) -> [Quaternion?] {
      let datagrams = socket.datagrams(timeoutMilliseconds: timeoutMilliseconds)
      let all: [Quaternion?]
      switch decoder {
      case .osc(var head):
        all = datagrams.flatMap { bytes -> [Quaternion?] in
          guard let messages = OSCPacket.messages(bytes) else {
            note("a packet of \(Self.size(bytes)) that cannot be read as OSC")
            return [nil]
          }
          return messages.map { message in
            let pose = head.take(message)
            if pose == nil { note(message.text) }
            return pose
          }
        }
        decoder = .osc(head)
      case .datagrams(let decode):
        all = datagrams.map { bytes in
          let pose = decode(bytes)
          if pose == nil { note("a packet of \(Self.size(bytes)) without a valid pose") }
          return pose
        }
      }
      return all.filter { $0 == nil } + all.compactMap(\.self).suffix(1)
    }

    private static func size(_ bytes: [UInt8]) -> String {
      bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes"
    }

    private func note(_ message: String) { if unread == nil { unread = message } }
  }
}
