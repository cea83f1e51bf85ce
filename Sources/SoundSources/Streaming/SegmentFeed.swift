// SPDX-License-Identifier: Apache-2.0

internal import HLS
internal import Media
internal import Rendering
private import Synchronization
private import System

/// The segments of a presentation, which are fetched on a separate thread.
///
/// ## Threading
/// Any thread may call `abandon`. Use everything else from one thread at a time.
final class SegmentFeed: Sendable {
  let presentation: OpenPresentation
  let queue: SegmentQueue
  let interrupt: InterruptFlag?
  private let worker = Worker()
  private let isAbandoned = Atomic(false)
  /// The longest wait between two checks of the interrupt flag, in seconds.
  private static let interruptSeconds = 0.05

  init(_ supply: SegmentSupply, interrupt: InterruptFlag?) {
    presentation = supply.presentation
    queue = supply.queue
    self.interrupt = interrupt
    worker.start { [worker] in supply.run { worker.isStopped } }
  }

  deinit { worker.stop() }

  /// Makes a waiting call to `segment`, and all later calls, throw `PlaybackError.interrupted`.
  func abandon() {
    isAbandoned.store(true, ordering: .relaxed)
    queue.wake()
  }

  /// Waits for a segment and returns it; nil if no more segments follow.
  ///
  /// - Throws: `PlaybackError.stream` if fetching failed before this segment; `.interrupted` if the
  ///   interrupt flag was raised or `abandon` was called.
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
