// SPDX-License-Identifier: Apache-2.0

import CRealtime
package import Synchronization

/// The status, events and counters that an output shares with other threads.
///
/// ## Threading
/// Any thread may use `counters`, `takeEvents` and `snapshot`. Everything else runs on the loop's
/// thread or with the loop's lock held. `publish` does not wait for another thread. If a reader
/// holds a lock, a later call of `publish` passes on the news.
package final class OutputBoard: @unchecked Sendable {
  package static let eventLimit = 256

  package let counters: UnsafeMutablePointer<OutputCounters>
  /// The loop's own copy of the status, which `publish` passes to the readers.
  package var draft = AudioOutputStatus()
  private var newEvents: [AudioOutputEvent] = []
  private let status = Mutex(AudioOutputStatus())
  private let events = Mutex<[AudioOutputEvent]>([])

  package init() {
    counters = .allocate(capacity: 1)
    counters.initialize(to: OutputCounters())
  }

  deinit {
    counters.deinitialize(count: 1)
    counters.deallocate()
  }

  // MARK: The loop's side

  package func post(_ kind: AudioOutputEvent.Kind) {
    newEvents.append(AudioOutputEvent(kind: kind, timeNanoseconds: monotonic_nanoseconds()))
  }

  package func publish() {
    let draft = draft
    status.withLockIfAvailable { $0 = draft }
    guard !newEvents.isEmpty else { return }
    let fresh = newEvents
    let taken: Void? = events.withLockIfAvailable {
      $0 += fresh
      $0.removeFirst(max(0, $0.count - Self.eventLimit))
    }
    if taken != nil { newEvents = [] }
  }

  // MARK: The readers' side

  package func takeEvents() -> [AudioOutputEvent] {
    events.withLock {
      let taken = $0
      $0 = []
      return taken
    }
  }

  package func snapshot() -> AudioOutputStatus {
    var snapshot = status.withLock { $0 }
    let state = counters.pointee.state.load(ordering: .acquiring)
    snapshot.state = AudioOutputState(rawValue: state) ?? .idle
    snapshot.framesWritten = counters.pointee.framesWritten.load(ordering: .relaxed)
    snapshot.underruns = counters.pointee.underruns.load(ordering: .relaxed)
    snapshot.rewrites = counters.pointee.rewrites.load(ordering: .relaxed)
    snapshot.lateRewrites = counters.pointee.lateRewrites.load(ordering: .relaxed)
    snapshot.lostRewriteHeads = counters.pointee.lostRewriteHeads.load(ordering: .relaxed)
    let latency = counters.pointee.latency.load(ordering: .relaxed)
    snapshot.measuredLatencyMilliseconds = latency < 0 ? nil : Double(latency) / 1e6
    return snapshot
  }
}

/// The counters, the latency and the state of an output. Any thread may read them.
package struct OutputCounters: ~Copyable {
  package let framesWritten = Atomic<Int64>(0)
  /// The time of the last attempt to fill the queue, in CLOCK_MONOTONIC nanoseconds; 0 before the
  /// first. On PipeWire, each cycle that supplies a buffer counts as an attempt.
  package let lastWrite = Atomic<Int64>(0)
  /// The last reported or estimated latency of the next frame [ns]; negative before the first
  /// report.
  package let latency = Atomic<Int64>(-1)
  package let underruns = Atomic<Int>(0)
  package let rewrites = Atomic<Int>(0)
  package let lateRewrites = Atomic<Int>(0)
  package let lostRewriteHeads = Atomic<Int>(0)
  package let state = Atomic<UInt8>(AudioOutputState.idle.rawValue)
}
