// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime

extension OutputQueue {
  /// Share of the usual minimum top-up that is enough if the thread is awake for another reason.
  private static let shareWhenAwake = 0.75
  /// Delay of a wake-up, so that it never comes a frame too early [ns].
  private static let wakeSlack: Int64 = 100_000

  /// Fills all free space in the queue if it exceeds `bytes`.
  func feed(ifMissing bytes: Double) {
    guard let handle = stream.handle else { return }
    let room = pa_stream_writable_size(handle)
    if room > 0, Double(room) > bytes {
      stream.renderer.pointee.fill(handle, byteCount: room)
    }
  }

  /// Tops the queue up if enough is missing.
  ///
  /// - Parameter isAwake: whether the thread woke for another reason.
  func topUp(isAwake: Bool) {
    guard let handle = stream.handle, let missing = missingFrames() else { return }
    let least = Double(leastTopUp) * (isAwake ? Self.shareWhenAwake : 1)
    guard Double(missing) >= least else { return }
    stream.renderer.pointee.fill(
      handle, byteCount: Int(missing) * StreamRenderer.bytesPerFrame)
  }

  /// The time at which enough is missing for the thread to wake; nil if filling is left to the
  /// server's requests.
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

/// Estimates how full the server's queue is, from its last answer and the sample rate.
///
/// With the estimate the queue is topped up before the server asks. Requests, each of which wakes
/// both sides, become rare. Counts are frames of the stream; times are CLOCK_MONOTONIC nanoseconds.
struct QueueFill {
  /// Time for which an answer is valid, since a server that has stopped plays nothing [ns].
  private static let trust: Int64 = 150_000_000

  private let framesPerNanosecond: Double
  private var queued: Int64 = 0
  private var written: Int64 = 0
  /// The time of the last answer; nil if there is none.
  private var time: Int64?

  init(sampleRate: Int) { framesPerNanosecond = Double(sampleRate) / 1e9 }

  /// Discards the last answer because it is about another queue.
  mutating func forget() { time = nil }

  /// Takes an answer: of `written` frames in total, `queued` had not been passed to the sink.
  mutating func learn(queued: Int64, written: Int64, now: Int64) {
    self.queued = queued
    self.written = written
    time = now
  }

  /// Returns the number of queued frames; nil if it is unknown.
  func frames(written: Int64, now: Int64) -> Int64? {
    guard let time, now - time < Self.trust else { return nil }
    return queued + written - self.written - Int64(Double(now - time) * framesPerNanosecond)
  }
}
