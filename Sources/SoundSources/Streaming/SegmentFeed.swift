// SPDX-License-Identifier: Apache-2.0

internal import HLS
internal import Media
internal import Rendering
private import Synchronization
private import System

/// The segments of a presentation, which are fetched on a separate thread while this object exists.
///
/// ## Threading
/// `abandon` may be called from any thread; the rest is used by one thread at a time.
final class SegmentFeed: Sendable {
  let presentation: OpenPresentation
  let queue: SegmentQueue
  let interrupt: InterruptFlag?
  private let worker = Worker()
  private let isAbandoned = Atomic(false)
  /// Interval at which the caller's interrupt flag is checked, since it wakes no thread [s].
  private static let interruptSeconds = 0.05

  init(_ supply: SegmentSupply, interrupt: InterruptFlag?) {
    presentation = supply.presentation
    queue = supply.queue
    self.interrupt = interrupt
    worker.start { [worker] in supply.run { worker.isStopped } }
  }

  deinit { worker.stop() }

  /// Makes a waiting call, and all later calls, give up.
  func abandon() {
    isAbandoned.store(true, ordering: .relaxed)
    queue.wake()
  }

  /// Waits for a segment and returns it; nil if no more segments follow.
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
