// SPDX-License-Identifier: Apache-2.0

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
