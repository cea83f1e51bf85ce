// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer

extension OutputQueue {
  /// The fraction of `leastTopUp` that suffices if the loop's thread is already awake.
  private static let shareWhenAwake = 0.75
  /// The delay that is added to the calculated time of a top-up [ns], so that the loop's thread
  /// does not wake one frame too early.
  private static let wakeSlack: Int64 = 100_000

  /// Fills the queue if its free space exceeds `bytes` bytes.
  func feed(ifMissing bytes: Double) {
    guard let handle = stream.handle else { return }
    let room = pa_stream_writable_size(handle)
    if room > 0, Double(room) > bytes {
      stream.renderer.pointee.fill(handle, byteCount: room)
    }
  }

  /// Tops up the queue if at least `leastTopUp` frames are missing. Does nothing if topping up or
  /// rewriting is off, if the stream is not open, if the server is not expected to request audio,
  /// or if there is no recent timing report.
  ///
  /// - Parameter isAwake: whether the thread woke for another reason. If so, three quarters of
  ///   `leastTopUp` are enough.
  func topUp(isAwake: Bool) {
    guard let handle = stream.handle, let missing = missingFrames() else { return }
    let least = Double(leastTopUp) * (isAwake ? Self.shareWhenAwake : 1)
    guard Double(missing) >= least else { return }
    stream.renderer.pointee.fill(
      handle, byteCount: Int(missing) * StreamRenderer.bytesPerFrame)
  }

  /// The time of the next top-up, in CLOCK_MONOTONIC nanoseconds; nil if none can be planned.
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
    guard stream.running != nil, stream.isToppedUp, stream.isRewriting, stream.flow.isRequestDue
    else { return nil }
    let depth = Int64(
      stream.board.draft.queueMilliseconds * Double(stream.configuration.sampleRate) / 1000)
    let queued = fill.frames(written: stream.framesWritten, now: monotonic_nanoseconds())
    return queued.map { min(depth, depth - $0) }
  }
}

/// Estimates the number of frames in the server's queue from the last timing report.
///
/// Counts are in frames of the stream; times are CLOCK_MONOTONIC nanoseconds.
struct QueueFill {
  /// The age at which a report becomes too old to use [ns].
  private static let trust: Int64 = 150_000_000

  private let framesPerNanosecond: Double
  private var queued: Int64 = 0
  private var written: Int64 = 0
  /// The time of the last report; nil if there is none.
  private var time: Int64?

  init(sampleRate: Int) { framesPerNanosecond = Double(sampleRate) / 1e9 }

  mutating func forget() { time = nil }

  /// Stores a report: at `now`, `queued` of the `written` frames had not yet reached the sink.
  mutating func learn(queued: Int64, written: Int64, now: Int64) {
    self.queued = queued
    self.written = written
    time = now
  }

  /// Returns the estimated number of queued frames, which can be negative; nil without a report
  /// from the last 150 ms.
  func frames(written: Int64, now: Int64) -> Int64? {
    guard let time, now - time < Self.trust else { return nil }
    return queued + written - self.written - Int64(Double(now - time) * framesPerNanosecond)
  }
}
