// SPDX-License-Identifier: Apache-2.0

private import Glibc
private import Synchronization

/// Events from several threads, taken by one; the last 1024 are kept.
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

func pauseThread(milliseconds: Int) { usleep(UInt32(max(0, milliseconds)) * 1000) }
