// SPDX-License-Identifier: Apache-2.0

internal import HLS
internal import Media
internal import Rendering
private import Synchronization
private import System

/// The segments of a presentation, which are fetched on a thread of its own while this object
/// lives.
///
/// ## Threading
/// `abandon` may be called from any thread; the rest is used by one thread at a time.
final class SegmentFeed: Sendable {
  let presentation: OpenPresentation
  let queue: SegmentQueue
  let interrupt: InterruptFlag?
  private let worker = Worker()
  private let isAbandoned = Atomic(false)
  /// s between two looks at the caller's interrupt, which wakes nobody.
  private static let interruptSeconds = 0.05

  init(_ supply: SegmentSupply, interrupt: InterruptFlag?) {
    presentation = supply.presentation
    queue = supply.queue
    self.interrupt = interrupt
    worker.start { [worker] in supply.run { worker.isStopped } }
  }

  deinit { worker.stop() }

  /// Makes a call that waits give up, and all that follow.
  func abandon() {
    isAbandoned.store(true, ordering: .relaxed)
    queue.wake()
  }

  /// Waits for a segment; nil where no more come.
  func segment(_ number: Int) throws(PlaybackError) -> QueuedSegment? {
    while !isAbandoned.load(ordering: .relaxed), interrupt?.isRaised != true {
      switch queue.look(for: number) {
      case .here(let segment): return segment
      case .none(let failure?): throw .stream(failure)
      case .none: return nil
      case .pending: queue.waitForChange(atMost: Self.interruptSeconds)
      }
    }
    throw .interrupted
  }
}
