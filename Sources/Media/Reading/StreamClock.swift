// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// Tracks the position of decoded frames at the track's own sample rate, and the gaps between them.
struct StreamClock {
  /// The maximum length of a gap, in seconds. Larger jumps of the timestamps are ignored.
  private static let longestGapSeconds = 60

  private let base: AVRational
  private let sampleRate: Int
  /// Whether timestamps are fine enough to distinguish single frames.
  let isSampleExact: Bool
  /// Whether timestamps can be converted to frames. False after the sample rate has changed.
  private(set) var isTrusted = true
  /// Whether a timestamp only counts the packets before it, and so cannot reveal a gap.
  private let countsPackets: Bool
  private var origin: Int64?
  /// The index of the next expected frame, from the start of the track.
  private(set) var position: Int64 = 0
  /// The estimated number of frames lost since the last gap was computed.
  private var lost: Int64 = 0
  private var lostPackets = 0
  private(set) var lastFrameLength: Int64 = 1024

  init(base: AVRational, sampleRate: Int, countsPackets: Bool) {
    self.base = base
    self.countsPackets = countsPackets
    self.sampleRate = sampleRate
    isSampleExact = Int64(base.den) >= Int64(base.num) * Int64(sampleRate)
  }

  /// Gives the first frame a negative index if its timestamp is exact, negative and no more than
  /// one second below 0.
  mutating func startEarly(at timestamp: Int64) {
    guard isTrusted, isSampleExact, position == 0, timestamp != FF_NO_TIMESTAMP, timestamp < 0
    else { return }
    let early = frames(ticks: timestamp)
    guard early >= -Int64(sampleRate) else { return }
    origin = 0
    position = early
  }

  /// Records the loss of a packet. `duration` is the length of the packet in ticks; 0 if unknown.
  mutating func lose(duration: Int64) {
    // Some demuxers let the duration of the last packet wrap around.
    let stated = duration > 0 && duration < Int64(Int32.max) ? frames(ticks: duration) : 0
    lost += (1...Int64(sampleRate)).contains(stated) ? stated : lastFrameLength
    lostPackets += 1
  }

  /// Records a loss of unknown length.
  mutating func noteDamage() { lostPackets += 1 }

  /// Ignores all further timestamps.
  mutating func distrust() { isTrusted = false }

  /// Advances the position by decoded frames or, if `isFrame` is false, by silence.
  mutating func advance(_ frames: Int64, isFrame: Bool) {
    position += frames
    if isFrame, frames > 0 { lastFrameLength = frames }
  }

  /// Returns the number of frames of silence to insert before the frame with this timestamp, and
  /// clears the recorded losses. `isUnexplained` means that only the timestamp indicates the gap.
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
      // Within the tolerance, the estimated loss is more precise than a coarse timestamp.
      return (abs(jump - lost) <= tolerance ? lost : max(0, jump), false)
    }
    let threshold = Int64(sampleRate) * (isSampleExact ? 10 : 250) / 1000
    return jump > max(threshold, tolerance) ? (jump, true) : (0, false)
  }

  /// Returns the number of frames of silence to insert after the last frame, and clears the
  /// recorded losses.
  mutating func gapAtEnd() -> Int64 { takeLost() ?? 0 }

  /// Returns a frame's timestamp; nil if no timestamp is known.
  func timestamp(frame: Int64) -> Int64? { origin.map { $0 + ticks(frames: frame) } }

  /// Clears the recorded losses, sets the position from the first timestamp after a seek, and
  /// returns the position. Changes nothing and returns nil if this timestamp or the first timestamp
  /// of the track is unknown.
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

  /// The tolerance for the rounding of timestamps, in frames.
  private var tolerance: Int64 { isSampleExact ? 1 : 2 * frames(ticks: 1) + 2 }

  func frames(ticks: Int64) -> Int64 {
    av_rescale_q(ticks, base, AVRational(num: 1, den: Int32(sampleRate)))
  }

  private func ticks(frames: Int64) -> Int64 {
    av_rescale_q(frames, AVRational(num: 1, den: Int32(sampleRate)), base)
  }
}
