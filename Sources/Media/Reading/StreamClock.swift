// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// Where decoded frames lie in time, at the track's own sample rate, and what is missing between
/// them.
struct StreamClock {
  /// Longer jumps of the timestamps are taken for nonsense.
  private static let longestGapSeconds = 60

  private let base: AVRational
  private let sampleRate: Int
  /// Timestamps that tell every single frame apart. Matroska's, for one, count milliseconds.
  let isSampleExact: Bool
  /// False once timestamps no longer count frames, because the sample rate has changed.
  private(set) var isTrusted = true
  /// Timestamps that are but the sum of the packets before, and know of no gap.
  private let countsPackets: Bool
  private var origin: Int64?
  /// Frames from the start of the track to the next frame expected.
  private(set) var position: Int64 = 0
  /// Frames that packets which did not decode would have made.
  private var lost: Int64 = 0
  private var lostPackets = 0
  private(set) var lastFrameLength: Int64 = 1024

  init(base: AVRational, sampleRate: Int, countsPackets: Bool) {
    self.base = base
    self.countsPackets = countsPackets
    self.sampleRate = sampleRate
    isSampleExact = Int64(base.den) >= Int64(base.num) * Int64(sampleRate)
  }

  /// A packet of `duration` ticks (0 if unknown) did not decode.
  mutating func lose(duration: Int64) {
    // Some demuxers let the last packet's duration wrap around.
    let stated = duration > 0 && duration < Int64(Int32.max) ? frames(ticks: duration) : 0
    lost += (1...Int64(sampleRate)).contains(stated) ? stated : lastFrameLength
    lostPackets += 1
  }

  /// Something is missing, and only timestamps can tell how much.
  mutating func noteDamage() { lostPackets += 1 }

  /// Timestamps count for nothing from here on.
  mutating func distrust() { isTrusted = false }

  /// `frames` more have been made, by the decoder or as silence.
  mutating func advance(_ frames: Int64, isFrame: Bool) {
    position += frames
    if isFrame, frames > 0 { lastFrameLength = frames }
  }

  /// How many frames of silence belong before a frame with this timestamp, and whether the
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
      // Coarse timestamps cannot correct a count that they agree with.
      return (abs(jump - lost) <= tolerance ? lost : max(0, jump), false)
    }
    let threshold = Int64(sampleRate) * (isSampleExact ? 10 : 250) / 1000
    return jump > max(threshold, tolerance) ? (jump, true) : (0, false)
  }

  /// Frames of silence that belong after the last frame.
  mutating func gapAtEnd() -> Int64 { takeLost() ?? 0 }

  /// The timestamp of a frame, or nil while the first one has not been seen.
  func timestamp(frame: Int64) -> Int64? { origin.map { $0 + ticks(frames: frame) } }

  /// Sets the position from the first timestamp after a jump; nil if that is impossible.
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

  /// Rounding of timestamps, in frames.
  private var tolerance: Int64 { isSampleExact ? 1 : 2 * frames(ticks: 1) + 2 }

  func frames(ticks: Int64) -> Int64 {
    av_rescale_q(ticks, base, AVRational(num: 1, den: Int32(sampleRate)))
  }

  private func ticks(frames: Int64) -> Int64 {
    av_rescale_q(frames, AVRational(num: 1, den: Int32(sampleRate)), base)
  }
}
