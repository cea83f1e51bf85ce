// SPDX-License-Identifier: Apache-2.0

internal import Rendering
internal import SoundSources
private import Synchronization

/// Collects the latest 1024 events for one reader.
final class EventQueue: Sendable {
  private let waiting = Mutex<[PlayerEvent]>([])

  var add: @Sendable (PlayerEvent) -> Void {
    { [self] event in
      waiting.withLock { waiting in
        if waiting.count == 1024 { waiting.removeFirst() }
        waiting.append(event)
      }
    }
  }

  func take() -> [PlayerEvent] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}
