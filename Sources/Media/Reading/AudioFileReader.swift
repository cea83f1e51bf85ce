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
  public let title: String?
  public let artist: String?
  /// What the file says of how loud `track` is, as `read` gives it; nil where it says nothing.
  public let statedLoudness: StatedLoudness?
  /// The layout of the frames that `read` gives next. It changes only where channels are followed
  /// (`followsLayout`), and then in `nextLayout`.
  public private(set) var layout: ChannelLayout
  /// The index of the next frame that `read` gives, in frames at `sampleRate`.
  public private(set) var position = 0

  private var decoder: TrackDecoder
  private var queue: ResamplingQueue
  private var hasEnded = false

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
    try ResamplingQueue.requireRate(sampleRate)
    let opened = try Demuxer(source: source, interrupt: interrupt)
    tracks = AudioTrack.all(in: opened, source: source)
    let named = tracks.first { $0.number == number }
    if let number, named == nil, !tracks.isEmpty {
      throw .noSuchTrack(path: source.name, track: number, count: tracks.count)
    }
    let chosen = try AudioTrack.chosen(of: tracks, preferred: named, in: opened)
    var warnings = WarningCollector()
    warnings.onWarning = onWarning
    decoder = try TrackDecoder(
      opened, track: chosen, dynamicRange: dynamicRange, warnings: warnings)
    track = try decoder.prime()
    if track != chosen {
      try track.requirePlayable(in: source.name)
      decoder = try decoder.restarted(as: track, at: 0)
    }
    layout = track.layout
    let demuxer = decoder.demuxer
    title = demuxer.tag("title")
    artist = demuxer.tag("artist")
    statedLoudness = StatedLoudness(
      of: track, in: demuxer, source: source,
      dialogueLevel: decoder.decoder.hasDialogueLevel ? dynamicRange.dialogueLevel : nil)
    queue = try ResamplingQueue(
      channels: track.channels, from: track.sampleRate, to: sampleRate ?? track.sampleRate)
    if number == nil { noteSkippedTracks() }
  }

  /// Sample rate of what `read` gives, in Hz.
  public var sampleRate: Int { queue.sampleRate }

  /// Of the first frames, and of all where channels are not followed.
  public var channels: Int { track.channels }

  /// What was wrong in what has been read, one entry a kind, in order of appearance.
  public var warnings: [MediaWarning] { decoder.warnings.warnings }

  /// Whether channels that change in mid-stream are given as they are; otherwise they are mixed to
  /// the first ones. To be set before the first `read`. Default: false.
  public var followsLayout: Bool {
    get { decoder.runs.areFollowed }
    set { decoder.runs.areFollowed = newValue }
  }

  /// The length in frames at `sampleRate`, as the file states it; nil where it does not. Exact for
  /// PCM and lossless files; coded ones may differ by their padding.
  public var duration: Int? {
    decoder.statedLength.map {
      Int(av_rescale_rnd($0, Int64(sampleRate), Int64(track.sampleRate), AV_ROUND_UP))
    }
  }

  /// The layout of the frames that come next; nil at the end. Where channels are followed, a new
  /// run of others begins here.
  ///
  /// - Throws: `MediaError.interrupted` or `.readFailed`.
  public func nextLayout() throws(MediaError) -> ChannelLayout? {
    while try !refill() {
      guard let next = decoder.runs.next else { return nil }
      layout = next
      decoder.beginRun()
      queue = try queue.following(channels: next.channelCount, from: decoder.nextFrame)
    }
    return layout
  }

  /// Reads the next frames: channels x frames, into one plane a channel. Where channels are
  /// followed, it stops at the end of a run, and gives 0 frames until `nextLayout` has been asked.
  ///
  /// - Returns: how many frames were written: `frames`, fewer only before the end, 0 at the end.
  /// - Throws: `MediaError.interrupted` or `.readFailed`.
  public func read(
    into planar: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(MediaError) -> Int {
    var written = 0
    while written < frames, try refill() {
      written += queue.read(into: planar, at: written, frames: frames - written)
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
    let (target, discard) = sourceFrame(for: frame)
    let isTrusted = decoder.clock.isTrusted
    let isReached = isTrusted ? try decoder.seek(to: target) : false
    if !isReached {
      decoder = try decoder.restarted(as: track, at: Double(position) / Double(sampleRate))
      layout = track.layout
      if isTrusted { decoder.skip(to: target) }
    }
    queue = try ResamplingQueue(
      channels: layout.channelCount, from: decoder.sampleRate, to: sampleRate,
      discarding: isTrusted ? discard : frame)
    hasEnded = false
    position = frame
  }
}

extension AudioFileReader {
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
  private func sourceFrame(for frame: Int) -> (target: Int64, discard: Int) {
    guard sampleRate != track.sampleRate else { return (Int64(frame), 0) }
    let ratio = ResamplingRatio(from: track.sampleRate, to: sampleRate)
    let here = Int64(frame) * ratio.periodIn / ratio.periodOut
    let periods = max(0, (here - 2 * ratio.halfLength) / ratio.periodIn)
    return (periods * ratio.periodIn, frame - Int(periods * ratio.periodOut))
  }

  /// Makes frames ready; false at the end of the track or of a run.
  private func refill() throws(MediaError) -> Bool {
    while !queue.isReady() {
      if hasEnded || decoder.runs.next != nil { return false }
      hasEnded = try !decoder.fill(queue.input)
      if hasEnded || decoder.runs.next != nil {
        queue.finish()
      } else {
        try queue.take(at: decoder.sampleRate)
      }
    }
    return true
  }
}
