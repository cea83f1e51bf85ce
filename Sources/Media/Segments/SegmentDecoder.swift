// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
import CFFmpeg

/// Decodes segments that follow each other as one sound: the decoder's memory goes on from each
/// into the next, as encoders of HLS segments count on.
///
/// What does not decode within a segment becomes silence of the same length. A segment that does
/// not follow is not taken; a decoder of its own is made for it.
///
/// ## Threading
/// Used by one thread at a time.
public final class SegmentDecoder: @unchecked Sendable {
  /// How a segment stands to those before it.
  public enum Succession: Sendable, Equatable {
    case follows
    /// Seconds are missing before it, or heard twice where negative.
    case jumps(Double)
    /// Its codec, its rate or its track is another one.
    case differs
  }

  /// The audio track of the first segment, as its first frame shows it.
  public let track: AudioTrack
  /// Of the first frame, on the container's clock, s; nil where it has none.
  public let startTime: Double?
  /// Frames that `read` has given.
  public private(set) var framesRead = 0
  /// Places in which packets did not decode or were missing.
  public private(set) var damages = 0

  private let decoder: Decoder
  private let queue: ResamplingQueue
  private var segment: SegmentDemuxer
  private var clock: FrameClock
  private var isFinishing = false
  /// Errors since the last good frame.
  private var errorRun = 0

  private static let longestErrorRun = 1000

  /// - Parameters:
  ///   - first: the segment to begin with.
  ///   - isStart: whether the sound begins here, so that an encoder's delay is dropped where the
  ///     container tells of it.
  ///   - sampleRate: 8000 to 384000 Hz; nil for the segment's own.
  ///   - dynamicRange: what becomes of words on level in AC-3, E-AC-3 and AAC.
  ///   - interrupt: makes every call give up.
  /// - Throws: `MediaError`; `.unrecognised` also where nothing in it decodes.
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
  /// Sample rate of what `read` gives, Hz.
  public var sampleRate: Int { queue.sampleRate }

  /// Of the next frame that `read` gives, on the clock of the first segment, s; nil where it has
  /// none.
  public var time: Double? { startTime.map { $0 + Double(framesRead) / Double(sampleRate) } }

  /// Goes on with a segment once all before it has been read (`read` gave 0).
  ///
  /// - Returns: whether it was taken; only what follows is.
  /// - Throws: `MediaError` where it cannot be read at all.
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

  /// No segment follows: what the decoder and the resampler still hold may be read.
  public func finish() { isFinishing = true }

  /// Reads channels x frames, into one plane a channel.
  ///
  /// - Returns: how many frames; 0 where the next segment is needed, and at the end.
  /// - Throws: `.interrupted` or `.readFailed`.
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
  /// How many packets were lost before the first frame.
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

  /// Decodes one step; false where there is nothing more.
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

  /// Silence for what the frame's timestamp says is missing before it.
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

  /// Counts what was appended, drops an encoder's delay, resamples.
  private func deliver() throws(MediaError) {
    queue.input.consume(clock.advance(queue.input.count))
    try queue.take(at: track.sampleRate)
  }
}

/// Where the frames of segments lie in time.
private struct FrameClock {
  /// Shorter steps of the timestamps are rounding.
  static let toleranceSeconds = 0.01
  /// Longer ones within a segment are nonsense.
  private static let longestGapSeconds = 60.0

  /// Of the first frame before anything is dropped, s; nil where segments have no clock.
  let origin: Double?
  let sampleRate: Int
  /// Frames still to be dropped.
  var toSkip: Int64
  /// Frames at `sampleRate` since the first one.
  private var made: Int64 = 0

  init(origin: Double?, sampleRate: Int, toSkip: Int64) {
    self.origin = origin
    self.sampleRate = sampleRate
    self.toSkip = toSkip
  }

  /// How much later than the next frame a time is, s.
  func jump(to time: Double?) -> Double? {
    guard let origin, let time else { return nil }
    return time - (origin + Double(made) / Double(sampleRate))
  }

  func framesMissing(before time: Double?) -> Int {
    guard let jump = jump(to: time), jump > Self.toleranceSeconds, jump < Self.longestGapSeconds
    else { return 0 }
    return Int((jump * Double(sampleRate)).rounded())
  }

  /// Counts frames; how many of them are to be dropped.
  mutating func advance(_ frames: Int) -> Int {
    made += Int64(frames)
    let dropped = min(Int64(frames), toSkip)
    toSkip -= dropped
    return Int(dropped)
  }
}
