// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import Synchronization

/// Topping up the queue before the server asks.
///
/// What a server asks for at a time is usually also how far its sink reads ahead. Where it can be told
/// to ask seldom and read little ahead, the audio thread is woken for the head alone, and writes what
/// is missing while it is awake.
extension OutputSession {
  /// Of what is missing when the thread wakes for it, how much is written if it is awake anyway.
  private static let shareWhenAwake = 0.75
  /// That a wake-up never finds a frame too little missing [ns].
  private static let wakeSlack: Int64 = 100_000

  /// Writes what the queue has room for, if that is worth it.
  ///
  /// - Parameter isAwake: whether the thread woke for something else.
  func topUp(_ stream: OpaquePointer, isAwake: Bool) {
    guard let missing = missingFrames() else { return }
    let least = Double(leastTopUp) * (isAwake ? Self.shareWhenAwake : 1)
    guard Double(missing) >= least else { return }
    renderer.pointee.fill(stream, byteCount: Int(missing) * StreamRenderer.bytesPerFrame)
  }

  /// When so much is missing that the thread should wake for it; nil: the server is going to ask.
  var topUpTime: Int64? {
    guard let missing = missingFrames() else { return nil }
    let frames = Double(max(0, leastTopUp - missing))
    let wait = Int64(frames * 1e9 / Double(configuration.sampleRate))
    return monotonic_nanoseconds() + wait + Self.wakeSlack
  }

  private var leastTopUp: Int64 {
    Int64(renderer.pointee.leastFill / StreamRenderer.bytesPerFrame)
  }

  private func missingFrames() -> Int64? {
    guard phase == .running, isToppedUp, isRewriting, isRequestDue else { return nil }
    let written = board.counters.pointee.framesWritten.load(ordering: .relaxed)
    let depth = board.draft.queueMilliseconds * Double(configuration.sampleRate) / 1000
    let queued = queueFill.frames(written: written, now: monotonic_nanoseconds())
    return queued.map { min(Int64(depth), Int64(depth) - $0) }
  }
}
