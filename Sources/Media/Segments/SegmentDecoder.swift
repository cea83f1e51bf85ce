// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
import CFFmpeg

/// Decodes consecutive segments as one continuous sound.
///
/// The decoder keeps its state between segments. Rejected frames become silence. Gaps of more than
/// 10 ms and less than 60 s between frames are filled with silence. A segment that does not follow
/// the previous one needs a new decoder.
///
/// ## Threading
/// Use a decoder from one thread at a time.
public final class SegmentDecoder: @unchecked Sendable {
  /// How a segment relates to the previous segments.
  public enum Succession: Sendable, Equatable {
    case follows
    /// The seconds that are missing before the segment; negative for an overlap.
    case jumps(Double)
    /// The codec, sample rate, number of channels or time base is different, or `finish` was
    /// called.
    case differs
  }

  /// The audio track of the first segment, with the format of the first decoded frame.
  public let track: AudioTrack
  /// The time of the first frame that `read` returns, in seconds; nil if unknown.
  public let startTime: Double?
  /// The number of frames that `read` has returned.
  public private(set) var framesRead = 0
  /// The approximate number of damaged places in the segments.
  public private(set) var damages = 0

  private let decoder: Decoder
  private let queue: ResamplingQueue
  private var segment: SegmentDemuxer
  private var clock: FrameClock
  private var isFinishing = false
  /// The number of errors since the last decoded frame.
  private var errorRun = 0

  private static let longestErrorRun = 1000

  /// Opens the first segment and decodes its first frame.
  ///
  /// - Parameters:
  ///   - first: the segment to begin with.
  ///   - isStart: whether the sound begins with this segment, so that a stated encoder delay is
  ///     dropped.
  ///   - sampleRate: 8000 to 384000 Hz; nil for the segment's own rate.
  ///   - dynamicRange: how the level metadata of AC-3, E-AC-3 and AAC is applied.
  ///   - interrupt: makes the decoder throw `MediaError.interrupted` once raised.
  /// - Throws: `MediaError` if the segment cannot be read or has no playable track, or if the rate
  ///   is out of range; `.unrecognised` if no frame can be decoded, or after too many errors.
  public init(
    first: CodedSegment, isStart: Bool, sampleRate: Int? = nil,
    dynamicRange: DynamicRange = .line, interrupt: InterruptFlag? = nil
  ) throws(MediaError) {
    try ResamplingQueue.requireRate(sampleRate)
    segment = try SegmentDemuxer(first, track: nil, interrupt: interrupt)
    decoder = try Decoder(segment.demuxer, track: segment.track, dynamicRange: dynamicRange)
    decoder.leaveDelay()
    damages = try Self.decodeFirstFrame(of: segment, with: decoder) > 0 ? 1 : 0
    track = segment.track.corrected(by: decoder.frame)
    let rate = track.sampleRate
    let delay = isStart ? segment.encoderDelay : 0
    let origin = first.time ?? segment.time(decoder.frame.pointee.pts)
    startTime = origin.map { $0 + Double(delay) / Double(rate) }
    clock = FrameClock(origin: origin, sampleRate: rate, toSkip: delay)
    queue = try ResamplingQueue(channels: track.channels, from: rate, to: sampleRate ?? rate)
  }

  public var channels: Int { track.channels }
  public var layout: ChannelLayout { track.layout }
  /// The sample rate of the frames that `read` returns, in Hz.
  public var sampleRate: Int { queue.sampleRate }

  /// The time of the next frame that `read` returns, in seconds; nil if `startTime` is nil.
  public var time: Double? { startTime.map { $0 + Double(framesRead) / Double(sampleRate) } }

  /// Continues with another segment. Call this function only after `read` has returned 0.
  ///
  /// - Returns: how `next` relates to the previous segments. The segment is accepted only if the
  ///   result is `.follows`.
  /// - Throws: `MediaError` if the segment cannot be read or has no playable track.
  public func append(_ next: CodedSegment) throws(MediaError) -> Succession {
    let candidate = try SegmentDemuxer(
      next, track: segment.identifier, interrupt: segment.demuxer.interrupt)
    guard !isFinishing, candidate.continues(segment) else { return .differs }
    if let jump = clock.jump(to: candidate.start), abs(jump) > FrameClock.toleranceSeconds {
      return .jumps(jump)
    }
    segment = candidate
    return .follows
  }

  /// Declares that no segment follows, so that `read` returns the remaining frames.
  public func finish() { isFinishing = true }

  /// Reads the next frames into `planes`, one plane per channel.
  ///
  /// - Returns: the number of frames read; fewer than `frames` at the end of a segment or after too
  ///   many errors.
  /// - Throws: `.interrupted`.
  public func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(MediaError) -> Int {
    var written = 0
    while written < frames {
      if queue.isReady() {
        written += queue.read(into: planes, at: written, frames: frames - written)
      } else if try !fill() {
        break
      }
    }
    framesRead += written
    return written
  }
}

extension SegmentDecoder {
  /// Decodes the first frame. Returns the number of errors before it.
  ///
  /// - Throws: `.unrecognised` if no frame can be decoded, or after too many errors;
  ///   `.interrupted`.
  private static func decodeFirstFrame(
    of segment: SegmentDemuxer, with decoder: Decoder
  ) throws(MediaError) -> Int {
    var lost = 0
    while lost <= longestErrorRun {
      switch try decoder.step(segment.demuxer) {
      case .frame: return lost
      case .packet: break
      case .refused, .invalid, .damaged: lost += 1
      case .noPacket: decoder.drain()
      case .end: throw .unrecognised(path: segment.demuxer.name)
      }
    }
    throw .unrecognised(path: segment.demuxer.name)
  }

  /// Performs one decoding step. Returns false at the end of the segment or after too many errors.
  private func fill() throws(MediaError) -> Bool {
    if segment.demuxer.isInterrupted { throw .interrupted }
    switch decoder.state {
    case .packets: return try decodeStep()
    case .frame: try appendFrame()
    case .end: return false
    }
    return true
  }

  private func decodeStep() throws(MediaError) -> Bool {
    switch try decoder.step(segment.demuxer) {
    case .frame:
      errorRun = 0
      try appendGap()
    case .packet: break
    case .refused, .invalid: noteDamage()
    case .damaged:
      noteDamage()
      return errorRun <= Self.longestErrorRun
    case .noPacket:
      guard isFinishing else { return false }
      decoder.drain()
    case .end:
      queue.finish()
      return queue.isReady()
    }
    return true
  }

  private func noteDamage() {
    errorRun += 1
    if errorRun == 1 { damages += 1 }
  }

  /// Appends silence for the frames missing before the decoded frame.
  private func appendGap() throws(MediaError) {
    let missing = clock.framesMissing(before: segment.time(decoder.frame.pointee.pts))
    guard missing > 0 else { return }
    if damages == 0 { damages = 1 }
    try appendSilence(missing)
  }

  private func appendSilence(_ frames: Int) throws(MediaError) {
    decoder.appendSilence(frames, to: queue.input)
    try deliver()
  }

  private func appendFrame() throws(MediaError) {
    switch decoder.append(to: queue.input, onlyAt: track.sampleRate) {
    case .damage(let frames):
      damages += 1
      try appendSilence(frames)
    case .sound(let muted):
      if muted.count > 0 { damages += 1 }
      try deliver()
    }
  }

  /// Counts the appended frames, drops the encoder delay and resamples.
  private func deliver() throws(MediaError) {
    queue.input.consume(clock.advance(queue.input.count))
    try queue.take(at: track.sampleRate)
  }
}

/// Counts frames across segments, and compares timestamps with the expected times.
private struct FrameClock {
  /// The largest timestamp deviation, in seconds, that counts as a rounding error.
  static let toleranceSeconds = 0.01
  /// Jumps of at least this length, in seconds, are ignored as invalid.
  private static let longestGapSeconds = 60.0

  /// The time of the first decoded frame, in seconds, even if that frame is dropped; nil if
  /// unknown.
  let origin: Double?
  let sampleRate: Int
  /// The number of frames still to be dropped.
  var toSkip: Int64
  /// The number of frames counted so far, at `sampleRate`.
  private var made: Int64 = 0

  init(origin: Double?, sampleRate: Int, toSkip: Int64) {
    self.origin = origin
    self.sampleRate = sampleRate
    self.toSkip = toSkip
  }

  /// Returns `time` minus the expected time of the next frame, in seconds; nil if either is
  /// unknown.
  func jump(to time: Double?) -> Double? {
    guard let origin, let time else { return nil }
    return time - (origin + Double(made) / Double(sampleRate))
  }

  func framesMissing(before time: Double?) -> Int {
    guard let jump = jump(to: time), jump > Self.toleranceSeconds, jump < Self.longestGapSeconds
    else { return 0 }
    return Int((jump * Double(sampleRate)).rounded())
  }

  /// Counts `frames`. Returns how many of them are to be dropped.
  mutating func advance(_ frames: Int) -> Int {
    made += Int64(frames)
    let dropped = min(Int64(frames), toSkip)
    toSkip -= dropped
    return Int(dropped)
  }
}
