// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime

/// Writes pieces over the server's queue; the source, which renders them again, is called back.
///
/// It makes no audio of its own: what the pieces hold is decided by `Playback.QueueRewriter`, which
/// the `RewriteFunction` leads to.
///
/// A piece is written with a negative seek, together with a copy of what is queued behind it, so
/// that the queue's end is never near the play position; a last frame written once more then brings
/// the write position back to the end. Where the source was too slow, or what it takes to be queued
/// is not, the piece is faded into the queue here.
///
/// ## Threading
/// As `StreamRenderer`, which owns it.
struct QueueOverwriter {
  enum Outcome: Equatable {
    /// The queue is good as it is.
    case nothing
    /// Written, beginning at this stream position.
    case written(start: Int64)
    /// The piece was rendered too late to be written.
    case late
    /// Too little is queued.
    case short
  }

  private static let windowNanoseconds: Int64 = 40_000_000
  /// Written in one go at least, window and copy together.
  private static let coverNanoseconds: Int64 = 70_000_000
  /// Shorter pieces are not worth writing.
  private static let leastNanoseconds: Int64 = 5_000_000
  /// What a sink may hold besides, and still be followed.
  private static let sinkMilliseconds = 300.0
  private static let fadeNanoseconds: Int64 = 2_500_000
  /// A seam that differs by more is faded: -80 dB.
  private static let seamTolerance: Float = 1e-4

  let shadow: QueueShadow
  private let piece: UnsafeMutablePointer<Float>
  private let pieceFrames: Int
  private let framesPerNanosecond: Double
  /// Nothing before this stream position is in the queue: the stream began there, or was flushed.
  var firstQueued: Int64 = 0
  var margin = RewriteMargin(readAhead: 0, extra: 0, limit: 0)
  /// What rendering a piece takes of late, at most [ns].
  private var renderingTime: Int64 = 0

  /// - Parameter queueMilliseconds: the deepest that the queue is going to be.
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

  /// Has a window just ahead of the play position rendered again and writes it.
  ///
  /// - Parameters:
  ///   - written: the stream position at the end of the queue.
  ///   - clock: which tells the position heard.
  @_noLocks
  mutating func rewrite(
    _ stream: OpaquePointer, function: AudioRenderCallback.RewriteFunction,
    context: UnsafeMutableRawPointer, written: Int64, clock: PresentationClock
  ) -> Outcome {
    let begun = monotonic_nanoseconds()
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
    let soonest = heard + frames(now - begun + margin.nanoseconds)
    let late = soonest > start ? soonest - start : 0
    guard count - late >= frames(Self.leastNanoseconds) else { return .late }
    join(start: start, late: Int(late), count: Int(count), written: written)
    return write(stream, start: start, late: Int(late), count: Int(count), written: written)
      ? .written(start: start + late) : .short
  }

  /// The longest of late: rising at once, falling slowly, never so much that it would matter more
  /// than what it saves.
  @_noLocks
  private mutating func noteRenderingTime(_ time: Int64) {
    let most: Int64 = 10_000_000
    let taken = time < most ? time : most
    renderingTime = taken > renderingTime ? taken : renderingTime - (renderingTime - taken) / 16
  }

  // MARK: Joining

  /// Fades both ends of the piece into the queue where they do not meet it already.
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

  /// `weight` 1: all of the piece; 0: all of the queue.
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
    // What follows the piece goes along.
    let tail = Int(written - start) - count
    let room = pieceFrames - count
    let copied = tail < room ? tail : room
    shadow.load(piece + 2 * count, position: start + Int64(count), frames: copied)
    guard seekAndWrite(stream, piece + 2 * late, count - late + copied, first - written) else {
      return false
    }
    guard tail > copied else { return true }
    shadow.load(piece, position: written - 1, frames: 1)
    return seekAndWrite(stream, piece, 1, Int64(tail - copied - 1))
  }

  /// Writes `frames` frames, `offset` frames from the write position on.
  @_noLocks
  private func seekAndWrite(
    _ stream: OpaquePointer, _ samples: UnsafeMutablePointer<Float>, _ frames: Int, _ offset: Int64
  ) -> Bool {
    let bytes = StreamRenderer.bytesPerFrame
    return pulse_seek_and_write(stream, samples, frames * bytes, offset * Int64(bytes)) >= 0
  }
}
