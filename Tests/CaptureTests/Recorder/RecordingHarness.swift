// SPDX-License-Identifier: Apache-2.0

import Glibc
import Laboratory
import Synchronization
import TestSupport
import Testing

@testable import Capture

/// A sink that keeps what it receives in memory.
final class MemorySink: RecordingSink, @unchecked Sendable {
  private let lock = Mutex(())
  private var kept: [[Float]] = []
  private var ends = 0
  private let stallAt: Int
  private let stallMilliseconds: Int
  private let failAt: Int
  private let failsAtEnd: Bool

  struct Full: Error {}

  /// Creates an empty sink.
  ///
  /// - Parameters:
  ///   - stallAt: the frame at which the sink blocks once, like a slow disk.
  ///   - failAt: the frame at which the sink throws `Full`.
  ///   - failsAtEnd: whether `finish` throws `Full`.
  init(
    stallAt: Int = .max, stallMilliseconds: Int = 0, failAt: Int = .max, failsAtEnd: Bool = false
  ) {
    self.stallAt = stallAt
    self.stallMilliseconds = stallMilliseconds
    self.failAt = failAt
    self.failsAtEnd = failsAtEnd
  }

  var planes: [[Float]] { lock.withLock { _ in kept } }
  /// The number of calls of `finish`.
  var finishCount: Int { lock.withLock { _ in ends } }
  var isFinished: Bool { finishCount > 0 }
  var secondsLeft: Double? { 1234 }

  func append(_ planes: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int) throws {
    let before = self.planes.first?.count ?? 0
    if before + frames > failAt { throw Full() }
    if before < stallAt, before + frames >= stallAt { sleepMilliseconds(stallMilliseconds) }
    lock.withLock { _ in
      for channel in kept.indices {
        kept[channel] += UnsafeBufferPointer(start: planes[channel], count: frames)
      }
    }
  }

  func finish() throws {
    lock.withLock { _ in ends += 1 }
    if failsAtEnd { throw Full() }
  }

  func prepare(_ format: RecorderFormat) -> MemorySink {
    lock.withLock { _ in kept = Array(repeating: [], count: format.channelCount) }
    return self
  }
}

/// The events of a recorder.
final class EventList: Sendable {
  private let events = Mutex<[RecorderEvent]>([])

  @Sendable func add(_ event: RecorderEvent) { events.withLock { $0.append(event) } }

  var kinds: [RecorderEvent.Kind] { events.withLock { $0.map(\.kind) } }

  var gaps: [Gap] {
    kinds.compactMap { if case .gap(let gap) = $0 { gap } else { nil } }
  }
}

/// A recording of a private server's microphone.
struct TestRecording {
  let recorder: Recorder
  let sink: MemorySink
  let events: EventList
  let start: Int64

  init(
    _ server: PrivatePulseServer, sink: MemorySink = MemorySink(),
    _ change: (inout RecorderConfiguration) -> Void = { _ in }
  ) throws {
    var configuration = RecorderConfiguration(sourceName: "mic")
    configuration.serverAddress = server.address
    configuration.microphone = .ambiX
    change(&configuration)
    let events = EventList()
    let recorder = Recorder(configuration, onEvent: events.add)
    try recorder.start { sink.prepare($0) }
    (self.recorder, self.sink, self.events) = (recorder, sink, events)
    start = monotonicNow()
  }

  /// Ends the recording and returns its channels and the time that it took [s].
  func stop() -> (planes: [[Float]], seconds: Double) {
    let seconds = Double(monotonicNow() - start) * 1e-9
    recorder.stop()
    return (sink.planes, seconds)
  }
}

/// The number of stale frames that a pipe-source delivers first.
let staleFrames = 16_384

/// Expects that every channel is the first channel times its factor in `Numbering`.
func expectEqualChannels(_ planes: [[Float]]) {
  for (channel, plane) in planes.enumerated() {
    let factor: Float = (channel % 2 == 0 ? 1 : -1) * (channel < 2 ? 1 : 0.5)
    let wrong = plane.indices.count { plane[$0] != planes[0][$0] * factor }
    #expect(wrong == 0, "channel \(channel)")
  }
}
