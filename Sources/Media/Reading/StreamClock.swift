// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// Tracks the position of decoded frames at the track's own sample rate, and computes what is
/// missing between them.
struct StreamClock {
  /// Longer jumps of the timestamps are ignored as invalid.
  private static let longestGapSeconds = 60

  private let base: AVRational
  private let sampleRate: Int
  /// Whether timestamps are fine enough to distinguish single frames. Those of Matroska, for
  /// example, count milliseconds.
  let isSampleExact: Bool
  /// False once timestamps no longer count frames because the sample rate has changed.
  private(set) var isTrusted = true
  /// Whether timestamps only add up the durations of the previous packets and so cannot reveal a
  /// gap.
  private let countsPackets: Bool
  private var origin: Int64?
  /// Frames from the start of the track to the next expected frame.
  private(set) var position: Int64 = 0
  /// Frames that the packets which did not decode would have produced.
  private var lost: Int64 = 0
  private var lostPackets = 0
  private(set) var lastFrameLength: Int64 = 1024

  init(base: AVRational, sampleRate: Int, countsPackets: Bool) {
    self.base = base
    self.countsPackets = countsPackets
    self.sampleRate = sampleRate
    isSampleExact = Int64(base.den) >= Int64(base.num) * Int64(sampleRate)
  }

  /// Records a packet of `duration` ticks (0 if unknown) that did not decode.
  mutating func lose(duration: Int64) {
    // Some demuxers let the duration of the last packet wrap around.
    let stated = duration > 0 && duration < Int64(Int32.max) ? frames(ticks: duration) : 0
    lost += (1...Int64(sampleRate)).contains(stated) ? stated : lastFrameLength
    lostPackets += 1
  }

  /// Records a loss whose length only timestamps can show.
  mutating func noteDamage() { lostPackets += 1 }

  /// Ignores timestamps from here on.
  mutating func distrust() { isTrusted = false }

  /// Counts `frames` that were decoded (`isFrame`) or inserted as silence.
  mutating func advance(_ frames: Int64, isFrame: Bool) {
    position += frames
    if isFrame, frames > 0 { lastFrameLength = frames }
  }

  /// Returns how many frames of silence belong before a frame with this timestamp, and whether the
  /// timestamps are the only reason for it.
  mutating func gap(before timestamp: Int64) -> (frames: Int64, isUnexplained: Bool) {
    let lost = takeLost()
    guard isTrusted, timestamp != FF_NO_TIMESTAMP else { return (lost ?? 0, false) }
    guard let origin else {
      self.origin = timestamp - ticks(frames: lost ?? 0)
      return (lost ?? 0, false)
    }
    guard !countsPackets else { return (lost ?? 0, false) }
    let jump = frames(ticks: timestamp.subtractingReportingOverflow(origin).partialValue) - position
    guard abs(jump) <= Int64(Self.longestGapSeconds * sampleRate) else { return (lost ?? 0, false) }
    if let lost {
      // Coarse timestamps cannot improve a count that they agree with.
      return (abs(jump - lost) <= tolerance ? lost : max(0, jump), false)
    }
    let threshold = Int64(sampleRate) * (isSampleExact ? 10 : 250) / 1000
    return jump > max(threshold, tolerance) ? (jump, true) : (0, false)
  }

  /// Returns how many frames of silence belong after the last frame.
  mutating func gapAtEnd() -> Int64 { takeLost() ?? 0 }

  /// Returns the timestamp of a frame; nil until the first timestamp is known.
  func timestamp(frame: Int64) -> Int64? { origin.map { $0 + ticks(frames: frame) } }

  /// Sets the position from the first timestamp after a seek; returns nil if that is impossible.
  mutating func settle(at timestamp: Int64) -> Int64? {
    guard let origin, timestamp != FF_NO_TIMESTAMP else { return nil }
    lost = 0
    lostPackets = 0
    position = frames(ticks: timestamp - origin)
    return position
  }

  private mutating func takeLost() -> Int64? {
    defer {
      lost = 0
      lostPackets = 0
    }
    return lostPackets > 0 ? min(lost, Int64(Self.longestGapSeconds * sampleRate)) : nil
  }

  /// Rounding error of timestamps, in frames.
  private var tolerance: Int64 { isSampleExact ? 1 : 2 * frames(ticks: 1) + 2 }

  func frames(ticks: Int64) -> Int64 {
    av_rescale_q(ticks, base, AVRational(num: 1, den: Int32(sampleRate)))
  }

  private func ticks(frames: Int64) -> Int64 {
    av_rescale_q(frames, AVRational(num: 1, den: Int32(sampleRate)), base)
  }
}
