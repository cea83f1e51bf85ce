// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime

extension OutputQueue {
  /// Of what is missing when the thread wakes for it, how much is written if it is awake anyway.
  private static let shareWhenAwake = 0.75
  /// That a wake-up never finds a frame too little missing [ns].
  private static let wakeSlack: Int64 = 100_000

  /// Fills all the room in the queue if it exceeds `bytes`.
  func feed(ifMissing bytes: Double) {
    guard let handle = stream.handle else { return }
    let room = pa_stream_writable_size(handle)
    if room > 0, Double(room) > bytes {
      stream.renderer.pointee.fill(handle, byteCount: room)
    }
  }

  /// Writes what the queue has room for, if that is worth it.
  ///
  /// - Parameter isAwake: whether the thread woke for something else.
  func topUp(isAwake: Bool) {
    guard let handle = stream.handle, let missing = missingFrames() else { return }
    let least = Double(leastTopUp) * (isAwake ? Self.shareWhenAwake : 1)
    guard Double(missing) >= least else { return }
    stream.renderer.pointee.fill(
      handle, byteCount: Int(missing) * StreamRenderer.bytesPerFrame)
  }

  /// When so much is missing that the thread should wake for it; nil: the server is going to ask.
  var topUpTime: Int64? {
    guard let missing = missingFrames() else { return nil }
    let frames = Double(max(0, leastTopUp - missing))
    let wait = Int64(frames * 1e9 / Double(stream.configuration.sampleRate))
    return monotonic_nanoseconds() + wait + Self.wakeSlack
  }

  private var leastTopUp: Int64 {
    Int64(stream.renderer.pointee.leastFill / StreamRenderer.bytesPerFrame)
  }

  private func missingFrames() -> Int64? {
    guard stream.isRunning, stream.isToppedUp, stream.isRewriting, stream.flow.isRequestDue else {
      return nil
    }
    let depth = Int64(
      stream.board.draft.queueMilliseconds * Double(stream.configuration.sampleRate) / 1000)
    let queued = fill.frames(written: stream.framesWritten, now: monotonic_nanoseconds())
    return queued.map { min(depth, depth - $0) }
  }
}

/// How full the server's queue is, by its last answer and the pace at which it plays.
///
/// So the queue can be topped up before the server asks, and the server need hardly ever ask: each
/// question wakes both sides. Frames of the stream; times are CLOCK_MONOTONIC nanoseconds.
struct QueueFill {
  /// An answer is believed for so long: a server that has stopped plays no more [ns].
  private static let trust: Int64 = 150_000_000

  private let framesPerNanosecond: Double
  private var queued: Int64 = 0
  private var written: Int64 = 0
  /// When that was so; nil: not known.
  private var time: Int64?

  init(sampleRate: Int) { framesPerNanosecond = Double(sampleRate) / 1e9 }

  /// What the server answered is of another queue.
  mutating func forget() { time = nil }

  /// Takes an answer: of `written` frames in all, `queued` were not yet handed to the sink.
  mutating func learn(queued: Int64, written: Int64, now: Int64) {
    self.queued = queued
    self.written = written
    time = now
  }

  /// Frames that are queued; nil where that is not known.
  func frames(written: Int64, now: Int64) -> Int64? {
    guard let time, now - time < Self.trust else { return nil }
    return queued + written - self.written - Int64(Double(now - time) * framesPerNanosecond)
  }
}
