// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer

/// Replaces windows of the queued sound in the server with sound that is rendered again.
///
/// A window is written with a negative seek, together with a copy of the queued sound that follows
/// it. The write position therefore stays far ahead of the play position. If the copy ends before
/// the queue does, the last queued frame is written again to move the write position to the end of
/// the queue.
///
/// ## Threading
/// Use an instance on the loop's thread or with the loop's lock held.
struct QueueOverwriter {
  enum Outcome: Equatable {
    /// The rewrite function returned 0, rendering is held, or the source cannot render again.
    case nothing
    /// A window that begins at this stream position was written.
    case written(start: Int64)
    /// Too little of the window was rendered in time.
    case late
    /// The queue is too short to rewrite, its play position is still unknown, or writing failed.
    case short
  }

  private static let windowNanoseconds: Int64 = 40_000_000
  /// The maximum length of one write: the window plus the copied sound [ns].
  private static let coverNanoseconds: Int64 = 70_000_000
  /// The minimum length of a window [ns].
  private static let leastNanoseconds: Int64 = 5_000_000
  /// The length of the sound that the shadow holds in addition to the queue's maximum depth,
  /// because the shadow also contains the sound in the sink [ms].
  private static let sinkMilliseconds = 300.0
  private static let fadeNanoseconds: Int64 = 2_500_000
  /// The largest sample difference that needs no crossfade: -80 dBFS.
  private static let seamTolerance: Float = 1e-4

  let shadow: QueueShadow
  private let piece: UnsafeMutablePointer<Float>
  private let pieceFrames: Int
  private let framesPerNanosecond: Double
  /// The stream position of the first frame written since the stream began or was flushed.
  var firstQueued: Int64 = 0
  var margin = RewriteMargin(readAhead: 0, extra: 0, limit: 0)
  /// The recent maximum of the rendering time, at most 10 ms [ns].
  private var renderingTime: Int64 = 0

  /// - Parameter queueMilliseconds: the maximum depth of the queue.
  init(sampleRate: Int, queueMilliseconds: Double) {
    framesPerNanosecond = Double(sampleRate) / 1e9
    shadow = QueueShadow(
      frames: Int((queueMilliseconds + Self.sinkMilliseconds) * Double(sampleRate) / 1000))
    pieceFrames = Int(Double(Self.coverNanoseconds) * framesPerNanosecond) + 1
    piece = .allocate(capacity: pieceFrames * QueueShadow.channelCount)
    piece.initialize(repeating: 0, count: pieceFrames * QueueShadow.channelCount)
  }

  func deallocate() {
    shadow.deallocate()
    piece.deallocate()
  }

  @_noLocks
  private func frames(_ nanoseconds: Int64) -> Int64 {
    Int64(Double(nanoseconds) * framesPerNanosecond)
  }

  /// Renders the earliest window that can still be replaced, and writes it.
  ///
  /// - Parameter written: the stream position at the end of the queue.
  @_noLocks
  mutating func rewrite(
    _ stream: OpaquePointer, function: AudioRenderCallback.RewriteFunction,
    context: UnsafeMutableRawPointer, written: Int64, clock: PresentationClock
  ) -> Outcome {
    let begun = monotonic_nanoseconds()
    // Start the window beyond the frames that the sink may read before the new sound arrives.
    guard let heard = clock.positionHeard(at: begun, written: written) else { return .short }
    let oldest = written - Int64(shadow.capacity)
    var start = heard + frames(margin.nanoseconds + renderingTime)
    start = start > oldest ? start : oldest
    start = start > firstQueued ? start : firstQueued
    let window = frames(Self.windowNanoseconds)
    let asked = written - start < window ? written - start : window
    guard asked >= frames(Self.leastNanoseconds) else { return .short }
    realtime_enter()
    let rendered = _unsafePerformance {
      function(
        context, piece, Int(written - start), Int(asked), clock.presentationTime(of: start))
    }
    realtime_exit()
    guard rendered > 0 else { return .nothing }
    let count = Int64(rendered) < asked ? Int64(rendered) : asked
    let now = monotonic_nanoseconds()
    noteRenderingTime(now - begun)
    // Drop the part of the window that the sink may have read in the meantime.
    let soonest = heard + frames(now - begun + margin.nanoseconds)
    let late = soonest > start ? soonest - start : 0
    guard count - late >= frames(Self.leastNanoseconds) else { return .late }
    join(start: start, late: Int(late), count: Int(count), written: written)
    return write(stream, start: start, late: Int(late), count: Int(count), written: written)
      ? .written(start: start + late) : .short
  }

  /// Updates `renderingTime`, which rises at once and falls slowly.
  @_noLocks
  private mutating func noteRenderingTime(_ time: Int64) {
    let most: Int64 = 10_000_000
    let taken = time < most ? time : most
    renderingTime = taken > renderingTime ? taken : renderingTime - (renderingTime - taken) / 16
  }

  // MARK: Joining

  /// Crossfades from the queued sound to the new sound at the start of the window, and back at its
  /// end. Omits a crossfade if the two sounds are almost equal there. A window that reaches the end
  /// of the queue needs no crossfade at its end.
  @_noLocks
  private func join(start: Int64, late: Int, count: Int, written: Int64) {
    let longest = Int(frames(Self.fadeNanoseconds))
    let half = (count - late) / 2
    let fade = longest < half ? longest : half
    let joinsHead = differs(late, from: start)
    let joinsTail = start + Int64(count) == written ? false : differs(count - 1, from: start)
    for i in 0..<fade {
      let weight = (Float(i) + 0.5) / Float(fade)
      if joinsHead { mix(late + i, from: start, weight: weight) }
      if joinsTail { mix(count - 1 - i, from: start, weight: weight) }
    }
  }

  @_noLocks
  private func differs(_ index: Int, from start: Int64) -> Bool {
    let queued = shadow.frame(start + Int64(index))
    let left = (queued[0] - piece[2 * index]).magnitude
    let right = (queued[1] - piece[2 * index + 1]).magnitude
    return left > Self.seamTolerance ? true : right > Self.seamTolerance
  }

  /// Crossfades one frame: `weight` 1 gives the new sound, 0 the queued sound.
  @_noLocks
  private func mix(_ index: Int, from start: Int64, weight: Float) {
    let queued = shadow.frame(start + Int64(index))
    piece[2 * index] = queued[0] + weight * (piece[2 * index] - queued[0])
    piece[2 * index + 1] = queued[1] + weight * (piece[2 * index + 1] - queued[1])
  }

  // MARK: Writing

  @_noLocks
  private func write(
    _ stream: OpaquePointer, start: Int64, late: Int, count: Int, written: Int64
  ) -> Bool {
    let first = start + Int64(late)
    shadow.store(
      UnsafePointer(piece + 2 * late), position: first, frames: count - late)
    // Copy the queued sound that follows the window.
    let tail = Int(written - start) - count
    let room = pieceFrames - count
    let copied = tail < room ? tail : room
    shadow.load(piece + 2 * count, position: start + Int64(count), frames: copied)
    guard seekAndWrite(stream, piece + 2 * late, count - late + copied, first - written) else {
      return false
    }
    guard tail > copied else { return true }
    // Write the last queued frame again to move the write position to the end of the queue.
    shadow.load(piece, position: written - 1, frames: 1)
    return seekAndWrite(stream, piece, 1, Int64(tail - copied - 1))
  }

  /// Writes `frames` frames at `offset` frames from the write position. Returns false on an error.
  @_noLocks
  private func seekAndWrite(
    _ stream: OpaquePointer, _ samples: UnsafeMutablePointer<Float>, _ frames: Int, _ offset: Int64
  ) -> Bool {
    let bytes = StreamRenderer.bytesPerFrame
    return pulse_seek_and_write(stream, samples, frames * bytes, offset * Int64(bytes)) >= 0
  }
}
