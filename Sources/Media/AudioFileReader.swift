// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
import CFFmpeg

/// Reads one audio track of a file as float32 at a wanted sample rate.
///
/// Whatever FFmpeg's libraries decode is read. Lossless codecs and PCM of up to 24 bits, and
/// float32, come out bit-exact at the file's own rate; wider samples are rounded to the nearest
/// float32. Encoder delay and padding are removed as far as the container tells them. At another
/// rate, n frames become ceil(n * out / in), frame k being at the time k / out.
///
/// A damaged file is played on: packets that do not decode become silence of the same length,
/// invalid samples are muted, and `warnings` tells of each kind once.
///
/// ## Threading
/// Used by one thread at a time; it may be handed from one to another. `InterruptFlag` may be
/// raised from anywhere.
public final class AudioFileReader: @unchecked Sendable {
  /// The audio tracks of the file, those that cannot be decoded included.
  public let tracks: [AudioTrack]
  /// The one that is read.
  public let track: AudioTrack
  /// Of what `read` gives, in Hz.
  public let sampleRate: Int
  public let title: String?
  public let artist: String?
  /// What AC-3 and E-AC-3 say of their level, by the first frame; nil for other codecs.
  public let syncframe: SyncframeHeader?
  /// What the file says of how loud `track` is, as `read` gives it; nil where it says nothing.
  public let statedLoudness: StatedLoudness?
  /// What the channels are of the frames that `read` gives next. It changes only where channels are
  /// followed (`followsLayout`), and then in `nextLayout`.
  public private(set) var layout: ChannelLayout
  /// Whether channels that change in mid-stream are given as they are; otherwise they are mixed to the
  /// first ones. To be set before the first `read`. Default: false.
  public var followsLayout = false {
    didSet { decoder.followsLayout = followsLayout }
  }
  /// The index of the next frame that `read` gives, in frames at `sampleRate`.
  public private(set) var position = 0

  private let dynamicRange: DynamicRange
  private let source: any ByteSource
  private let interrupt: InterruptFlag?
  private var decoder: TrackDecoder
  private var resampler: Resampler?
  private var resamplerRate: Int
  /// At the track's rate, and at the wanted one; frames in `resampled` come first.
  private var decoded: PlanarQueue
  private var resampled: PlanarQueue
  private var hasEnded = false
  private var toDiscard = 0

  /// - Parameters:
  ///   - path: of a regular file.
  ///   - track: from 1; nil for the richest that can be decoded.
  ///   - sampleRate: 8000 to 384000 Hz; nil for the track's own.
  ///   - dynamicRange: what becomes of words on level that broadcasters send with the sound.
  ///   - interrupt: makes every call give up with `MediaError.interrupted`.
  ///   - onWarning: called on the reading thread at the first warning of each kind.
  /// - Throws: `MediaError`, whose `description` is one line for the user.
  public convenience init(
    path: String, track: Int? = nil, sampleRate: Int? = nil, dynamicRange: DynamicRange = .line,
    interrupt: InterruptFlag? = nil, onWarning: ((MediaWarning) -> Void)? = nil
  ) throws(MediaError) {
    try self.init(
      source: FileByteSource(path: path), track: track, sampleRate: sampleRate,
      dynamicRange: dynamicRange, interrupt: interrupt, onWarning: onWarning)
  }

  /// As `init(path:…)`, from bytes that come from elsewhere.
  public init(
    source: any ByteSource, track number: Int? = nil, sampleRate: Int? = nil,
    dynamicRange: DynamicRange = .line, interrupt: InterruptFlag? = nil,
    onWarning: ((MediaWarning) -> Void)? = nil
  ) throws(MediaError) {
    if let sampleRate, !AudioTrack.sampleRates.contains(sampleRate) {
      throw .outputRate(sampleRate)
    }
    var demuxer = try Demuxer(source: source, interrupt: interrupt)
    let tracks = AudioTrack.all(in: demuxer, source: source)
    let chosen = try Self.choose(number, of: tracks, in: demuxer, name: source.name)
    var warnings = WarningCollector()
    warnings.onWarning = onWarning
    var decoder = try TrackDecoder(
      demuxer: demuxer, track: chosen, dynamicRange: dynamicRange, path: source.name,
      interrupt: interrupt, warnings: warnings)
    let track = try decoder.prime()
    if track != chosen {
      try Self.requirePlayable(track, name: source.name)
      demuxer = try Demuxer(source: source, interrupt: interrupt)
      decoder = try TrackDecoder(
        demuxer: demuxer, track: track, dynamicRange: dynamicRange, path: source.name,
        interrupt: interrupt, warnings: warnings)
      _ = try decoder.prime()
    }
    self.decoder = decoder
    self.dynamicRange = dynamicRange
    self.source = source
    self.interrupt = interrupt
    self.tracks = tracks
    self.track = track
    layout = track.layout
    self.sampleRate = sampleRate ?? track.sampleRate
    let container = demuxer.context.pointee.metadata
    let stream = demuxer.streams[track.streamIndex].pointee.metadata
    title = metadata(container, "title") ?? metadata(stream, "title")
    artist = metadata(container, "artist") ?? metadata(stream, "artist")
    syncframe = decoder.syncframe
    statedLoudness = StatedLoudness(
      of: track, in: demuxer, source: source,
      dialogueLevel: decoder.hasDialogueLevel ? dynamicRange.dialogueLevel : nil)
    decoded = PlanarQueue(channels: track.channels)
    resampled = PlanarQueue(channels: track.channels)
    resamplerRate = self.sampleRate
    if number == nil { noteSkippedTracks() }
  }

  /// Of the first frames, and of all where channels are not followed.
  public var channels: Int { track.channels }

  /// What was wrong in what has been read, one entry a kind, in order of appearance.
  public var warnings: [MediaWarning] { decoder.warnings.warnings }

  /// The length in frames at `sampleRate`, as the file states it; nil where it does not. Exact for
  /// PCM and lossless files; coded ones may differ by their padding.
  public var duration: Int? {
    decoder.statedLength.map {
      Int(av_rescale_rnd($0, Int64(sampleRate), Int64(track.sampleRate), AV_ROUND_UP))
    }
  }

  /// What the channels are of the frames that come next; nil at the end. Where channels are followed, a
  /// new run of others begins here.
  ///
  /// - Throws: `MediaError.interrupted` or `.readFailed`.
  public func nextLayout() throws(MediaError) -> ChannelLayout? {
    while try !refill() {
      guard let next = decoder.nextRun else { return nil }
      try beginRun(next)
    }
    return layout
  }

  /// Reads the next frames: channels x frames, into one plane a channel. Where channels are followed,
  /// it stops at the end of a run, and gives 0 frames until `nextLayout` has been asked.
  ///
  /// - Returns: how many frames were written: `frames`, fewer only before the end, 0 at the end.
  /// - Throws: `MediaError.interrupted` or `.readFailed`.
  public func read(
    into planar: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(MediaError) -> Int {
    var written = 0
    while written < frames, try refill() {
      let ready = resampled.count > 0 ? resampled : decoded
      let count = min(ready.count, frames - written)
      for channel in 0..<ready.channels {
        (planar[channel] + written).update(from: ready.plane(channel), count: count)
      }
      ready.consume(count)
      written += count
    }
    position += written
    return written
  }

  /// Makes `frame` (at `sampleRate`, from 0) the next one that `read` gives. For PCM and lossless
  /// codecs what follows is what a read from the start gives, bit for bit; lossy decoders have
  /// converged to it. Formats without exact timestamps (Matroska) are decoded from the start.
  ///
  /// - Throws: `MediaError.interrupted`, `.readFailed`, `.seekFailed`.
  public func seek(toFrame frame: Int) throws(MediaError) {
    let frame = max(0, min(frame, duration ?? frame))
    guard frame != position else { return }
    decoded.removeAll()
    resampled.removeAll()
    resampler = nil
    resamplerRate = sampleRate
    hasEnded = false
    let (target, discard) = try sourceFrame(for: frame)
    let isTrusted = decoder.isTimelineTrusted
    let isReached = isTrusted ? try decoder.seek(to: target) : false
    if !isReached {
      try reopen()
      if isTrusted { decoder.skip(to: target) }
    }
    toDiscard = isTrusted ? discard : frame
    position = frame
  }
}

extension AudioFileReader {
  private static func choose(
    _ number: Int?, of tracks: [AudioTrack], in demuxer: Demuxer, name: String
  ) throws(MediaError) -> AudioTrack {
    guard let first = tracks.first else {
      let hasVideo = demuxer.streams.contains {
        $0.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_VIDEO
      }
      throw .noAudio(path: name, hasVideo: hasVideo)
    }
    if let number {
      guard tracks.indices.contains(number - 1) else {
        throw .noSuchTrack(path: name, track: number, count: tracks.count)
      }
    }
    let chosen = number.map { tracks[$0 - 1] } ?? AudioTrack.richest(of: tracks) ?? first
    try requirePlayable(chosen, name: name)
    return chosen
  }

  private static func requirePlayable(
    _ track: AudioTrack, name: String
  ) throws(MediaError) {
    guard let problem = track.problem else { return }
    throw .unplayable(path: name, track: track.number, problem: problem)
  }

  private func noteSkippedTracks() {
    for skipped in tracks where !skipped.isDecodable {
      let detail =
        "audio track \(skipped.number) is not played, because "
        + "\(skipped.problem?.description ?? ""); track \(track.number) is played instead"
      decoder.warnings.add(.trackSkipped, at: 0, detail: detail)
    }
  }

  /// The frame at the track's rate to decode from, and how many output frames to drop after it.
  /// Resampling starts at a whole period of its phases, early enough for its filter to be full.
  private func sourceFrame(for frame: Int) throws(MediaError) -> (target: Int64, discard: Int) {
    guard sampleRate != track.sampleRate else { return (Int64(frame), 0) }
    let rates = try Resampler(channels: 1, from: track.sampleRate, to: sampleRate)
    let here = Int64(frame) * rates.periodIn / rates.periodOut
    let periods = max(0, (here - 2 * rates.halfLength) / rates.periodIn)
    return (periods * rates.periodIn, frame - Int(periods * rates.periodOut))
  }

  private func reopen() throws(MediaError) {
    let demuxer = try Demuxer(source: source, interrupt: interrupt)
    guard demuxer.streams.indices.contains(track.streamIndex) else {
      throw .seekFailed(path: source.name, seconds: Double(position) / Double(sampleRate))
    }
    decoder = try TrackDecoder(
      demuxer: demuxer, track: track, dynamicRange: dynamicRange, path: source.name,
      interrupt: interrupt, warnings: decoder.warnings)
    decoder.followsLayout = followsLayout
    _ = try decoder.prime()
    guard layout != track.layout else { return }
    layout = track.layout
    decoded = PlanarQueue(channels: channels)
    resampled = PlanarQueue(channels: channels)
  }

  /// Makes frames ready; false at the end.
  private func refill() throws(MediaError) -> Bool {
    while true {
      let ready = resampled.count > 0 ? resampled : decoded
      if toDiscard > 0, ready.count > 0 {
        let count = min(toDiscard, ready.count)
        ready.consume(count)
        toDiscard -= count
      }
      if resampled.count > 0 || decoded.count > 0 { return true }
      if hasEnded || decoder.nextRun != nil { return false }
      if try decoder.fill(decoded) {
        if decoder.nextRun != nil { resampler?.finish(into: resampled) } else { try resample() }
      } else {
        hasEnded = true
        resampler?.finish(into: resampled)
      }
    }
  }

  /// Goes on with other channels. Resampled frames stay on the grid of the whole stream: the new
  /// resampler first gets the silence that leads from the last whole period of its phases to here.
  private func beginRun(_ next: ChannelLayout) throws(MediaError) {
    layout = next
    decoder.beginRun()
    decoded = PlanarQueue(channels: next.channelCount)
    resampled = PlanarQueue(channels: next.channelCount)
    resampler = nil
    guard resamplerRate != sampleRate else { return }
    let resampler = try Resampler(
      channels: next.channelCount, from: resamplerRate, to: sampleRate)
    self.resampler = resampler
    let (inPeriod, outPeriod) = (resampler.periodIn, resampler.periodOut)
    let lead = decoder.nextFrame % inPeriod
    guard lead > 0 else { return }
    decoded.appendSilence(Int(lead))
    resampler.process(decoded, into: resampled)
    toDiscard += Int((lead * outPeriod + inPeriod - 1) / inPeriod)
  }

  private func resample() throws(MediaError) {
    if decoder.sampleRate != resamplerRate {
      resampler?.finish(into: resampled)
      resampler = nil
      resamplerRate = decoder.sampleRate
      if resamplerRate != sampleRate {
        resampler = try Resampler(
          channels: decoded.channels, from: resamplerRate, to: sampleRate)
      }
    }
    resampler?.process(decoded, into: resampled)
  }
}
