// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
import CFFmpeg

/// Reads one audio track of a file as float32 at a requested sample rate.
///
/// The reader accepts the audio that FFmpeg's libraries decode, within the limits of `AudioTrack`.
/// Lossless codecs, PCM of up to 24 bits and float32 are bit-exact at the file's own rate; wider
/// samples are rounded to the nearest float32. Encoder delay and padding are removed if the
/// container states them. If a rate `out` other than the file's rate `in` is requested, `n` frames
/// become `ceil(n * out / in)` frames, and the resulting frame `k` is at the time `k / out`.
///
/// A damaged file keeps playing: packets that do not decode become silence, invalid samples are
/// muted, and `warnings` reports each kind of problem once.
///
/// ## Threading
/// Use a reader from one thread at a time; the thread may change between calls. The `InterruptFlag`
/// may be raised from any thread.
public final class AudioFileReader: @unchecked Sendable {
  /// The audio tracks of the file, including those that cannot be decoded.
  public let tracks: [AudioTrack]
  /// The track that is read.
  public let track: AudioTrack
  public let title: String?
  public let artist: String?
  /// The loudness of the frames that `read` returns, as the file states it; nil if the file states
  /// none.
  public let statedLoudness: StatedLoudness?
  /// The layout of the frames that `read` returns next. It changes only if `followsLayout` is set,
  /// and only in `nextLayout` and `seek`.
  public private(set) var layout: ChannelLayout
  /// Index of the next frame that `read` returns, in frames at `sampleRate`.
  public private(set) var position = 0

  private var decoder: TrackDecoder
  private var queue: ResamplingQueue
  private var hasEnded = false

  /// Opens a file and chooses the track to read.
  ///
  /// - Parameters:
  ///   - path: the path of a regular file.
  ///   - track: the track number, from 1; nil for the richest track that can be decoded.
  ///   - sampleRate: 8000 to 384000 Hz; nil for the track's own rate.
  ///   - dynamicRange: how the level metadata of AC-3, E-AC-3 and AAC is applied.
  ///   - interrupt: a flag that, once raised, makes the reader throw `MediaError.interrupted`
  ///     instead of reading or decoding more.
  ///   - onWarning: called for the first warning of each kind, on the thread that uses the reader.
  /// - Throws: `MediaError` if the file or the track cannot be read, or if the rate is out of
  ///   range. The error's `description` is one line for the user.
  public convenience init(
    path: String, track: Int? = nil, sampleRate: Int? = nil, dynamicRange: DynamicRange = .line,
    interrupt: InterruptFlag? = nil, onWarning: ((MediaWarning) -> Void)? = nil
  ) throws(MediaError) {
    try self.init(
      source: FileByteSource(path: path), track: track, sampleRate: sampleRate,
      dynamicRange: dynamicRange, interrupt: interrupt, onWarning: onWarning)
  }

  /// Like `init(path:...)`, but reads the bytes from `source`.
  public init(
    source: any ByteSource, track number: Int? = nil, sampleRate: Int? = nil,
    dynamicRange: DynamicRange = .line, interrupt: InterruptFlag? = nil,
    onWarning: ((MediaWarning) -> Void)? = nil
  ) throws(MediaError) {
    try ResamplingQueue.requireRate(sampleRate)
    let opened = try Demuxer.opening(source, interrupt: interrupt)
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
      decoder = try decoder.restarted(as: track)
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

  /// Sample rate of the frames that `read` returns, in Hz.
  public var sampleRate: Int { queue.sampleRate }

  /// The number of channels of the first frames, and of all frames unless `followsLayout` is set.
  public var channels: Int { track.channels }

  /// The problems found so far, one entry per kind, in order of first occurrence.
  public var warnings: [MediaWarning] { decoder.warnings.warnings }

  /// Whether frames keep their own layout after the layout changes in mid-stream. Otherwise, frames
  /// with another number of channels are mixed to the first layout. Set this property before the
  /// first `read`. Default: false.
  public var followsLayout: Bool {
    get { decoder.runs.areFollowed }
    set { decoder.runs.areFollowed = newValue }
  }

  /// The length that the file states, in frames at `sampleRate`; nil if the file states none, or if
  /// the length is only estimated from the bit rate. The length is exact for most PCM and lossless
  /// files, but not in containers with coarse timestamps such as Matroska. For lossy files, the
  /// length may be off, for example by the length of the padding.
  public var duration: Int? {
    decoder.statedLength.map {
      Int(av_rescale_rnd($0, Int64(sampleRate), Int64(track.sampleRate), AV_ROUND_UP))
    }
  }

  /// Returns the layout of the next frames, or nil at the end of the track. If `followsLayout` is
  /// set and the layout changes, this call begins the next run: the frames with the new layout.
  ///
  /// - Throws: `MediaError` if reading fails or is interrupted.
  public func nextLayout() throws(MediaError) -> ChannelLayout? {
    while try !refill() {
      guard let next = decoder.runs.next else { return nil }
      layout = next
      decoder.beginRun()
      queue = try queue.following(channels: next.channelCount, from: decoder.nextFrame)
    }
    return layout
  }

  /// Reads the next frames, channels x frames, into one plane per channel. If `followsLayout` is
  /// set, reading stops at the end of a run; further calls return 0 until `nextLayout` is called.
  ///
  /// - Returns: the number of frames written: `frames`, or fewer at the end of a run or of the
  ///   track; 0 if no frame of the run or track is left.
  /// - Throws: `MediaError` if reading fails or is interrupted.
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

  /// Makes `frame` (at `sampleRate`, from 0) the next frame that `read` returns. A position outside
  /// the track is moved to the start or, if the length is known, to the end.
  ///
  /// For PCM and lossless codecs, the frames after a seek are bit-identical to those that are
  /// decoded from the start. For lossy codecs, they are practically identical, because decoding
  /// begins well before the target. If the timestamps of the format do not identify single frames
  /// (Matroska), an earlier frame is reached by decoding from the start, and a later one by
  /// decoding from the current position.
  ///
  /// - Throws: `MediaError` if reading fails or is interrupted. If the file must be reopened, also
  ///   the errors of opening it, and `.trackLost` if it no longer has the track.
  public func seek(toFrame frame: Int) throws(MediaError) {
    let frame = max(0, min(frame, duration ?? frame))
    guard frame != position else { return }
    let (target, discard) = sourceFrame(for: frame)
    let isTrusted = decoder.clock.isTrusted
    let isReached = isTrusted ? try decoder.seek(to: target) : false
    if !isReached {
      decoder = try decoder.restarted(as: track)
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
        "audio track \(skipped.number) cannot be played: "
        + "\(skipped.problem?.description ?? ""); track \(track.number) is played"
      decoder.warnings.add(.trackSkipped, at: 0, detail: detail)
    }
  }

  /// Returns the index of the frame from which to decode, at the track's rate, and the number of
  /// output frames to drop before `frame`. Resampling starts at a multiple of the period of its
  /// phases, early enough to fill the filter before `frame`.
  private func sourceFrame(for frame: Int) -> (target: Int64, discard: Int) {
    guard sampleRate != track.sampleRate else { return (Int64(frame), 0) }
    let ratio = ResamplingRatio(from: track.sampleRate, to: sampleRate)
    let here = Int64(frame) * ratio.periodIn / ratio.periodOut
    let periods = max(0, (here - 2 * ratio.halfLength) / ratio.periodIn)
    return (periods * ratio.periodIn, frame - Int(periods * ratio.periodOut))
  }

  /// Decodes until frames are ready to be read. Returns false at the end of the track or of a run.
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
