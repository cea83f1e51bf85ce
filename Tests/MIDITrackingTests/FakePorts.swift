// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import HeadTracking
import Synchronization

@testable import MIDITracking

/// A sequencer whose ports and devices a test controls.
final class FakePorts: MIDIPorts {
  struct State {
    var ports: [MIDIPort] = []
    /// Bytes that the open port delivers.
    var waiting: [[UInt8]] = []
    var written: [[UInt8]] = []
    var openings = 0
    var obstacle: String?
    var failure: String?
    /// What the device answers to each message.
    var answer: @Sendable ([UInt8]) -> [[UInt8]] = { _ in [] }
  }

  private let state = Mutex(State())

  init(_ ports: [MIDIPort] = []) { change { $0.ports = ports } }

  static func port(
    _ client: Int, _ name: String, port: Int = 0, usb: USBIdentity? = nil
  ) -> MIDIPort {
    MIDIPort(
      client: name, name: "\(name) MIDI \(port + 1)",
      place: .sequencer(client: client, port: port), card: nil, usb: usb)
  }

  @discardableResult
  func change<Result: Sendable>(_ body: (inout sending State) -> sending Result) -> Result {
    state.withLock { body(&$0) }
  }

  /// Sends bytes from the device.
  func send(_ bytes: [UInt8]) { change { $0.waiting.append(bytes) } }

  func ports() -> [MIDIPort] { state.withLock { $0.ports } }
  func obstacle(_ port: MIDIPort) -> String? { state.withLock { $0.obstacle } }

  func open(_ port: MIDIPort) throws(MIDIError) -> any MIDILink {
    let failure = state.withLock { state in
      state.openings += 1
      state.waiting = []
      return state.failure
    }
    if let failure { throw MIDIError(reason: failure) }
    return Link(self, port)
  }

  private final class Link: MIDILink {
    private let system: FakePorts
    private let port: MIDIPort
    /// As after an announcement of the sequencer, the first reads return nothing at once.
    private var announcements = 3

    init(_ system: FakePorts, _ port: MIDIPort) { (self.system, self.port) = (system, port) }

    func read(timeoutNanoseconds: Int64) -> MIDIInput {
      if announcements > 0 {
        announcements -= 1
        return .nothing
      }
      let end = monotonic_nanoseconds() + timeoutNanoseconds
      repeat {
        let input: MIDIInput = system.state.withLock { state in
          guard state.ports.contains(port) else { return .gone }
          guard !state.waiting.isEmpty else { return .nothing }
          return .bytes(state.waiting.removeFirst())
        }
        if input != .nothing { return input }
        usleep(500)
      } while monotonic_nanoseconds() < end
      return .nothing
    }

    func write(_ message: [UInt8]) throws(MIDIError) {
      let isGone = system.state.withLock { state in
        state.written.append(message)
        state.waiting += state.answer(message)
        return !state.ports.contains(port)
      }
      if isGone { throw MIDIError(reason: "gone") }
    }
  }
}

/// The events of a session.
final class Events: Sendable {
  private let state = Mutex<[TrackerEvent]>([])
  var all: [TrackerEvent] { state.withLock { $0 } }
  @Sendable func add(_ event: TrackerEvent) { state.withLock { $0.append(event) } }

  var connections: Int {
    all.count { if case .connected = $0 { true } else { false } }
  }
  var losses: Int {
    all.count { if case .lost = $0 { true } else { false } }
  }
  var failures: [String] {
    all.compactMap { if case .failed(let error) = $0 { error.description } else { nil } }
  }
}

/// The samples of a session.
final class Samples: Sendable {
  private let state = Mutex<[HeadSample]>([])
  var all: [HeadSample] { state.withLock { $0 } }
  func clear() { state.withLock { $0 = [] } }
  @Sendable func add(_ measurement: TrackerMeasurement) {
    state.withLock { $0.append(measurement.head) }
  }
}
