// SPDX-License-Identifier: Apache-2.0

import Capture
import DBus
import Loudness
import Synchronization

/// Passes a recorder's events from the recorder's threads to the main thread.
final class EventQueue: Sendable {
  private let events = Mutex<(waiting: [RecorderEvent], hasLost: Bool)>(([], false))

  func add(_ event: RecorderEvent) {
    events.withLock {
      $0.waiting.append(event)
      if case .waiting(let cause, _) = event.kind, cause == .inputLost || cause == .serverLost {
        $0.hasLost = true
      }
    }
  }

  var hasLost: Bool { events.withLock { $0.hasLost } }

  func take() -> [RecorderEvent] {
    events.withLock { events in
      defer { events.waiting = [] }
      return events.waiting
    }
  }
}

/// Measures a recording's loudness. In a soundfield or an unknown layout, only the first channel is
/// measured.
final class RecordingLoudness: @unchecked Sendable {
  private let lock = Mutex(())
  private var meter: LoudnessMeter?

  func prepare(_ format: RecorderFormat) {
    let weights = ChannelWeight.all(format.layout) ?? [.main]
    lock.withLock { _ in
      meter = LoudnessMeter(weights: weights, sampleRate: format.sampleRate, isEndless: true)
    }
  }

  func add(_ block: RecordedBlock) {
    lock.withLock { _ in meter?.add(block.planes, frames: block.frames) }
  }

  /// The integrated loudness in LUFS; nil if no block of 400 ms has reached -70 LUFS so far.
  var integrated: Double? { lock.withLock { _ in meter?.integrated } }
}

/// The media keys for `record` and `listen`. There are none if `MediaControls` cannot be created,
/// for example without a session bus or libsystemd.
///
/// ## Threading
/// The bus's thread adds commands; the main thread takes them.
final class MediaKeys: Sendable {
  private let waiting: Commands
  private let controls: MediaControls?

  private final class Commands: Sendable {
    let all = Mutex<[MediaControls.Command]>([])
  }

  init() {
    let waiting = Commands()
    self.waiting = waiting
    controls = try? MediaControls(
      name: "stillstage", identity: "Stillstage",
      onCommand: { command in waiting.all.withLock { $0.append(command) } })
  }

  var areAvailable: Bool { controls != nil }

  func set(_ status: MediaControls.Status) { controls?.set(status) }

  /// Returns the commands that have arrived since the last call.
  func take() -> [MediaControls.Command] {
    waiting.all.withLock { all in
      defer { all = [] }
      return all
    }
  }

  func stop() { controls?.stop() }
}
