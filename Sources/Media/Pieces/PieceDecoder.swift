// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
import CFFmpeg

/// Decodes pieces that follow each other as one sound: the decoder's memory goes on from each into the
/// next, as encoders of HLS segments count on.
///
/// What does not decode within a piece becomes silence of the same length. A piece that does not follow
/// is not taken; a decoder of its own is made for it.
///
/// ## Threading
/// Used by one thread at a time.
public final class PieceDecoder: @unchecked Sendable {
  /// How a piece stands to those before it.
  public enum Succession: Sendable, Equatable {
    case follows
    /// Seconds are missing before it, or heard twice where negative.
    case jumps(Double)
    /// Its codec, its rate or its track is another one.
    case differs
  }

  /// The audio track of the first piece, as its first frame shows it.
  public let track: AudioTrack
  /// Of what `read` gives, Hz.
  public let sampleRate: Int
  /// Of the first frame, on the container's clock, s; nil where it has none.
  public let startTime: Double?
  /// Frames that `read` has given.
  public private(set) var framesRead = 0
  /// Places in which packets did not decode or were missing.
  public private(set) var damages = 0

  private let name: String
  private let interrupt: InterruptFlag?
  private let decoder: Decoder
  private let packet: UnsafeMutablePointer<AVPacket>
  private let base: AVRational
  private var piece: PieceDemuxer
  private var finite = FiniteGuard()
  private var gain: AACGain
  private var resampler: Resampler?
  private let decoded: PlanarQueue
  private let resampled: PlanarQueue
  private var mixer: (channels: Int, mixer: ChannelRemix, input: PlanarQueue)?
  private var home = AVChannelLayout()
  /// A frame is decoded and not yet in `decoded`.
  private var isFrameHeld = true
  private var isFinishing = false
  private var hasEnded = false
  private var errorRun = 0
  /// Frames at the track's own rate since the first one, and those of them still to be dropped.
  private var made: Int64 = 0
  private var toSkip: Int64
  /// Of the first frame before anything is dropped, s.
  private let origin: Double?

  /// Shorter steps of the timestamps are rounding.
  static let toleranceSeconds = 0.01
  /// Longer ones within a piece are nonsense.
  private static let longestGapSeconds = 60.0
  /// Above this (+30 dB) the output of a lossy decoder is damage, not sound.
  private static let lossyLimit: Float = 32
  private static let longestErrorRun = 1000

  /// - Parameters:
  ///   - first: the piece to begin with.
  ///   - isStart: whether the sound begins here, so that an encoder's delay is dropped where the
  ///     container tells of it.
  ///   - sampleRate: 8000 to 384000 Hz; nil for the piece's own.
  ///   - dynamicRange: what becomes of words on level in AC-3, E-AC-3 and AAC.
  ///   - interrupt: makes every call give up.
  /// - Throws: `MediaError`; `.unrecognised` also where nothing in it decodes.
  public init(
    first: CodedPiece, isStart: Bool, sampleRate: Int? = nil, dynamicRange: DynamicRange = .line,
    interrupt: InterruptFlag? = nil
  ) throws(MediaError) {
    if let sampleRate, !AudioTrack.sampleRates.contains(sampleRate) {
      throw .outputRate(sampleRate)
    }
    let piece = try PieceDemuxer(first, track: nil, interrupt: interrupt)
    let decoder = try Decoder(
      stream: piece.stream, track: piece.track, dynamicRange: dynamicRange, path: first.name)
    decoder.leavesDelay()
    guard let packet = av_packet_alloc() else {
      throw .openFailed(path: first.name, reason: "out of memory")
    }
    var opening = PieceOpening(gain: AACGain(mode: dynamicRange))
    do throws(MediaError) {
      try opening.decodeFirstFrame(of: piece, with: decoder, packet)
    } catch {
      var freeing: UnsafeMutablePointer<AVPacket>? = packet
      av_packet_free(&freeing)
      throw error
    }
    name = first.name
    self.packet = packet
    self.interrupt = interrupt
    self.piece = piece
    self.decoder = decoder
    track = piece.track.corrected(by: decoder.frame)
    base = piece.stream.pointee.time_base
    gain = opening.gain
    damages = opening.lost > 0 ? 1 : 0
    let rate = track.sampleRate
    origin = first.time ?? (piece.demuxer.isBareStream ? nil : opening.time)
    toSkip = isStart ? opening.delay : 0
    startTime = origin.map { [toSkip] in $0 + Double(toSkip) / Double(rate) }
    self.sampleRate = sampleRate ?? rate
    decoded = PlanarQueue(channels: track.channels)
    resampled = PlanarQueue(channels: track.channels)
    home.nb_channels = Int32(track.channels)
    let label = decoder.frame.pointee.ch_layout
    if label.order == AV_CHANNEL_ORDER_NATIVE { home = label }
    if self.sampleRate != rate {
      resampler = try Resampler(channels: track.channels, from: rate, to: self.sampleRate)
    }
  }

  deinit {
    var freeing: UnsafeMutablePointer<AVPacket>? = packet
    av_packet_free(&freeing)
  }

  public var channels: Int { track.channels }
  public var layout: ChannelLayout { track.layout }

  /// Of the next frame that `read` gives, on the clock of the first piece, s; nil where it has none.
  public var time: Double? { startTime.map { $0 + Double(framesRead) / Double(sampleRate) } }

  /// Goes on with a piece once all before it has been read (`read` gave 0).
  ///
  /// - Returns: whether it was taken; only what follows is.
  /// - Throws: `MediaError` where it cannot be read at all.
  public func append(_ next: CodedPiece) throws(MediaError) -> Succession {
    let candidate = try PieceDemuxer(next, track: piece.identifier, interrupt: interrupt)
    let parameters = candidate.stream.pointee.codecpar!
    let own = piece.stream.pointee.codecpar!
    guard !isFinishing, parameters.pointee.codec_id == own.pointee.codec_id,
      candidate.track.sampleRate == piece.track.sampleRate,
      candidate.track.channels == piece.track.channels,
      candidate.stream.pointee.time_base.den == base.den,
      candidate.stream.pointee.time_base.num == base.num
    else { return .differs }
    if let start = candidate.start, let origin {
      let jump = start - (origin + Double(made) / Double(track.sampleRate))
      guard abs(jump) <= Self.toleranceSeconds else { return .jumps(jump) }
    }
    piece = candidate
    return .follows
  }

  /// No piece follows: what the decoder and the resampler still hold may be read.
  public func finish() { isFinishing = true }

  /// Reads channels x frames, into one plane a channel.
  ///
  /// - Returns: how many frames; 0 where the next piece is needed, and at the end.
  /// - Throws: `.interrupted` or `.readFailed`.
  public func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(MediaError) -> Int {
    var written = 0
    while written < frames {
      let ready = resampler == nil ? decoded : resampled
      if ready.count == 0 {
        guard try fill() else { break }
        continue
      }
      let count = min(ready.count, frames - written)
      for c in 0..<channels {
        (planes[c] + written).update(from: ready.plane(c), count: count)
      }
      ready.consume(count)
      written += count
    }
    framesRead += written
    return written
  }
}

extension PieceDecoder {
  /// Decodes one step; false where there is nothing more.
  private func fill() throws(MediaError) -> Bool {
    if interrupt?.isRaised == true { throw .interrupted }
    guard !hasEnded else { return false }
    if isFrameHeld {
      isFrameHeld = false
      appendFrame()
      return true
    }
    switch decoder.receive() {
    case .frame:
      errorRun = 0
      isFrameHeld = true
      appendGap()
    case .needsPacket: return try sendPacket()
    case .invalid: noteDamage()
    case .end:
      hasEnded = true
      resampler?.finish(into: resampled)
      return resampled.count > 0
    }
    return true
  }

  private func sendPacket() throws(MediaError) -> Bool {
    switch try piece.next(into: packet) {
    case .end:
      guard isFinishing else { return false }
      _ = decoder.send(nil)
    case .damaged:
      noteDamage()
      if errorRun > Self.longestErrorRun { return false }
    case .packet:
      defer { av_packet_unref(packet) }
      guard Int(packet.pointee.stream_index) == piece.track.streamIndex else { return true }
      gain.add(packet, codec: piece.stream.pointee.codecpar.pointee.codec_id)
      if !decoder.send(packet) { noteDamage() }
    }
    return true
  }

  private func noteDamage() {
    errorRun += 1
    if errorRun == 1 { damages += 1 }
  }

  /// Silence for what the frame's timestamp says is missing before it.
  private func appendGap() {
    guard !piece.demuxer.isBareStream, let origin,
      let time = piece.seconds(decoder.frame.pointee.pts)
    else { return }
    let jump = time - (origin + Double(made) / Double(track.sampleRate))
    guard jump > Self.toleranceSeconds, jump < Self.longestGapSeconds else { return }
    if errorRun == 0, damages == 0 { damages = 1 }
    appendSilence(Int((jump * Double(track.sampleRate)).rounded()))
  }

  private func appendSilence(_ frames: Int) {
    decoded.appendSilence(frames)
    finite.noteSilence()
    deliver(frames)
  }

  private func appendFrame() {
    let frame = decoder.frame
    let frames = Int(frame.pointee.nb_samples)
    guard Int(frame.pointee.sample_rate) == track.sampleRate, convert(frame) else {
      damages += 1
      return appendSilence(frames)
    }
    let isBurst =
      decoder.isLossy && !(FiniteGuard.peak(of: decoded, from: 0) <= Self.lossyLimit)
    if isBurst {
      damages += 1
      decoded.removeAll()
      return appendSilence(frames)
    }
    gain.apply(to: decoded)
    if finite.apply(to: decoded, from: 0).count > 0 { damages += 1 }
    deliver(decoded.count)
  }

  /// Counts what was appended, drops an encoder's delay, resamples.
  private func deliver(_ frames: Int) {
    made += Int64(frames)
    let dropped = min(Int64(decoded.count), toSkip)
    toSkip -= dropped
    decoded.consume(Int(dropped))
    resampler?.process(decoded, into: resampled)
  }

  private func convert(_ frame: UnsafeMutablePointer<AVFrame>) -> Bool {
    let channels = Int(frame.pointee.ch_layout.nb_channels)
    guard (1...AudioTrack.maximumChannels).contains(channels) else { return false }
    guard channels != track.channels else { return SampleConversion.append(frame, to: decoded) }
    if mixer?.channels != channels {
      let remix = ChannelRemix(
        from: frame.pointee.ch_layout, to: home, sampleRate: Int32(track.sampleRate))
      mixer = (channels, remix, PlanarQueue(channels: channels))
    }
    guard let mixer, SampleConversion.append(frame, to: mixer.input) else { return false }
    mixer.mixer.process(mixer.input, into: decoded)
    return true
  }
}

/// The first frame of a sound.
private struct PieceOpening {
  var gain: AACGain
  /// Of its timestamp, s.
  private(set) var time: Double?
  /// Frames of the encoder's delay, where the container tells.
  private(set) var delay: Int64 = 0
  private(set) var lost = 0

  init(gain: AACGain) { self.gain = gain }

  mutating func decodeFirstFrame(
    of piece: PieceDemuxer, with decoder: Decoder, _ packet: UnsafeMutablePointer<AVPacket>
  ) throws(MediaError) {
    var isFirst = true
    while true {
      switch decoder.receive() {
      case .frame:
        time = piece.seconds(decoder.frame.pointee.pts)
        return
      case .end: throw .unrecognised(path: piece.name)
      case .invalid: lost += 1
      case .needsPacket:
        switch try piece.next(into: packet) {
        case .end: _ = decoder.send(nil)
        case .damaged: lost += 1
        case .packet:
          defer { av_packet_unref(packet) }
          guard Int(packet.pointee.stream_index) == piece.track.streamIndex else { continue }
          if isFirst { delay = Self.delay(packet, piece.stream.pointee.codecpar) }
          isFirst = false
          gain.add(packet, codec: piece.stream.pointee.codecpar.pointee.codec_id)
          if !decoder.send(packet) { lost += 1 }
        }
      }
      if lost > 1000 { throw .unrecognised(path: piece.name) }
    }
  }

  /// By AV_PKT_DATA_SKIP_SAMPLES (32 bits, least significant byte first), or for Opus by its header.
  private static func delay(
    _ packet: UnsafeMutablePointer<AVPacket>, _ parameters: UnsafeMutablePointer<AVCodecParameters>
  ) -> Int64 {
    var size = 0
    if let data = av_packet_get_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, &size), size >= 4 {
      return (0..<4).reduce(0) { $0 | Int64(data[$1]) << (8 * $1) }
    }
    let isOpus = parameters.pointee.codec_id == AV_CODEC_ID_OPUS
    return isOpus ? Int64(max(0, parameters.pointee.initial_padding)) : 0
  }
}

extension AACGain {
  /// Takes a packet where it is AAC.
  fileprivate mutating func add(_ packet: UnsafeMutablePointer<AVPacket>, codec: AVCodecID) {
    guard codec == AV_CODEC_ID_AAC, let data = packet.pointee.data else { return }
    add(UnsafeBufferPointer(start: data, count: max(0, Int(packet.pointee.size))))
  }
}
