// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime

/// Replaces queued sound in the server with pieces that the source renders again.
///
/// It makes no audio of its own: `Rendering.QueueRewriter`, called through the `RewriteFunction`,
/// determines the content of the pieces.
///
/// A piece is written with a negative seek, followed by a copy of the queued sound behind it, so
/// that the write position stays far ahead of the play position. Writing the last queued frame
/// again then moves the write position back to the end of the queue. The piece is crossfaded into
/// the queue here if it came late, or if the queue differs from what the source assumed.
///
/// ## Threading
/// Same as `StreamRenderer`, which owns it.
struct QueueOverwriter {
  enum Outcome: Equatable {
    /// The queue needs no change.
    case nothing
    /// A piece was written that begins at this stream position.
    case written(start: Int64)
    /// The piece was rendered too late to be written.
    case late
    /// The queue is too short to rewrite.
    case short
  }

  private static let windowNanoseconds: Int64 = 40_000_000
  /// Length of one write, window and copy together, if that much is queued [ns].
  private static let coverNanoseconds: Int64 = 70_000_000
  /// Shorter pieces are not worth writing.
  private static let leastNanoseconds: Int64 = 5_000_000
  /// Length of the shadow beyond the queue's depth, for the sound that the sink has taken already
  /// [ms].
  private static let sinkMilliseconds = 300.0
  private static let fadeNanoseconds: Int64 = 2_500_000
  /// Largest difference at a seam that needs no crossfade: -80 dB.
  private static let seamTolerance: Float = 1e-4

  let shadow: QueueShadow
  private let piece: UnsafeMutablePointer<Float>
  private let pieceFrames: Int
  private let framesPerNanosecond: Double
  /// Stream position before which nothing is in the queue: the stream began there, or was flushed.
  var firstQueued: Int64 = 0
  var margin = RewriteMargin(readAhead: 0, extra: 0, limit: 0)
  /// Recent maximum of the time to render a piece [ns].
  private var renderingTime: Int64 = 0

  /// - Parameter queueMilliseconds: the largest depth that the queue can have.
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

  /// Has a window just ahead of the play position rendered again, and writes it.
  ///
  /// - Parameters:
  ///   - written: the stream position at the end of the queue.
  ///   - clock: gives the stream position that is audible now.
  @_noLocks
  mutating func rewrite(
    _ stream: OpaquePointer, function: AudioRenderCallback.RewriteFunction,
    context: UnsafeMutableRawPointer, written: Int64, clock: PresentationClock
  ) -> Outcome {
    let begun = monotonic_nanoseconds()
    // Choose a window that starts just beyond what the sink may read until the piece arrives.
    guard let heard = clock.positionHeard(at: begun, written: written) else { return .short }
    let oldest = written - Int64(shadow.capacity)
    var start = heard + frames(margin.nanoseconds + renderingTime)
    start = start > oldest ? start : oldest
    start = start > firstQueued ? start : firstQueued
    let window = frames(Self.windowNanoseconds)
    let asked = written - start < window ? written - start : window
    guard asked >= frames(Self.leastNanoseconds) else { return .short }
    // Have the source render it.
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
    // Drop the head that the sink may have read in the meantime.
    let soonest = heard + frames(now - begun + margin.nanoseconds)
    let late = soonest > start ? soonest - start : 0
    guard count - late >= frames(Self.leastNanoseconds) else { return .late }
    join(start: start, late: Int(late), count: Int(count), written: written)
    return write(stream, start: start, late: Int(late), count: Int(count), written: written)
      ? .written(start: start + late) : .short
  }

  /// Updates the recent maximum of the rendering time. It rises at once and falls slowly. The cap
  /// keeps the delay that it adds smaller than the latency that rewriting saves.
  @_noLocks
  private mutating func noteRenderingTime(_ time: Int64) {
    let most: Int64 = 10_000_000
    let taken = time < most ? time : most
    renderingTime = taken > renderingTime ? taken : renderingTime - (renderingTime - taken) / 16
  }

  // MARK: Joining

  /// Crossfades each end of the piece into the queue unless the two agree there.
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

  /// Crossfades one frame: `weight` 1 gives the piece, 0 the queue.
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
    // Copy the queued sound that follows the piece.
    let tail = Int(written - start) - count
    let room = pieceFrames - count
    let copied = tail < room ? tail : room
    shadow.load(piece + 2 * count, position: start + Int64(count), frames: copied)
    guard seekAndWrite(stream, piece + 2 * late, count - late + copied, first - written) else {
      return false
    }
    guard tail > copied else { return true }
    // Write the last queued frame again, which moves the write position back to the end.
    shadow.load(piece, position: written - 1, frames: 1)
    return seekAndWrite(stream, piece, 1, Int64(tail - copied - 1))
  }

  /// Writes `frames` frames at `offset` frames from the write position.
  @_noLocks
  private func seekAndWrite(
    _ stream: OpaquePointer, _ samples: UnsafeMutablePointer<Float>, _ frames: Int, _ offset: Int64
  ) -> Bool {
    let bytes = StreamRenderer.bytesPerFrame
    return pulse_seek_and_write(stream, samples, frames * bytes, offset * Int64(bytes)) >= 0
  }
}
