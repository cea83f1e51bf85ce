// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
import CFFmpeg

/// Reads one audio track of a file as float32 at a requested sample rate.
///
/// Lossless sound of up to 24 bits, or in float32, is bit-exact at the track's own rate. Wider
/// samples are rounded to the nearest float32. Stated encoder delay and padding are removed. With
/// resampling, `n` frames at the track's rate `in` become `ceil(n * out / in)` frames at the rate
/// `out`.
///
/// Packets that do not decode become silence, and invalid samples are muted. `warnings` reports
/// each kind of problem once.
///
/// ## Threading
/// Use a reader from one thread at a time. Any thread may raise the `InterruptFlag`.
public final class AudioFileReader: @unchecked Sendable {
  /// The audio tracks of the file, including those that cannot be played.
  public let tracks: [AudioTrack]
  /// The track that is read, corrected by the format of its first frame.
  public let track: AudioTrack
  public let title: String?
  public let artist: String?
  /// The stated loudness of the frames that `read` returns; nil if no plausible loudness is stated.
  public let statedLoudness: StatedLoudness?
  /// The layout of the frames that `read` returns next. If `followsLayout` is set, `nextLayout` and
  /// `seek` may change it.
  public private(set) var layout: ChannelLayout
  /// The index of the next frame that `read` returns, at `sampleRate`.
  public private(set) var position = 0

  private var decoder: TrackDecoder
  private var queue: ResamplingQueue
  private var hasEnded = false

  /// Opens a file and chooses the track to read.
  ///
  /// - Parameters:
  ///   - path: the path of a regular file.
  ///   - track: the track number, from 1; nil for automatic selection.
  ///   - sampleRate: 8000 to 384000 Hz; nil for the track's own rate.
  ///   - dynamicRange: how the level metadata of AC-3, E-AC-3 and AAC is applied.
  ///   - interrupt: makes the reader throw `MediaError.interrupted` once raised.
  ///   - onWarning: called for the first warning of each kind.
  /// - Throws: `MediaError` if the file or the track cannot be read, if the rate is out of range,
  ///   or if `interrupt` is raised.
  public convenience init(
    path: String, track: Int? = nil, sampleRate: Int? = nil, dynamicRange: DynamicRange = .line,
    interrupt: InterruptFlag? = nil, onWarning: ((MediaWarning) -> Void)? = nil
  ) throws(MediaError) {
    try self.init(
      source: FileByteSource(path: path), track: track, sampleRate: sampleRate,
      dynamicRange: dynamicRange, interrupt: interrupt, onWarning: onWarning)
  }

  /// Opens a byte source and chooses the track to read. The other parameters and errors are those
  /// of `init(path:...)`.
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

  /// Whether the track ends before its first frame and there is no warning. The value is meaningful
  /// only before the first `read`.
  package var isWithoutFrames: Bool { decoder.decoder.state == .end && warnings.isEmpty }

  /// The sample rate of the frames that `read` returns, in Hz.
  public var sampleRate: Int { queue.sampleRate }

  /// The number of channels of the track's first frames.
  public var channels: Int { track.channels }

  /// The problems found so far, one entry per kind.
  public var warnings: [MediaWarning] { decoder.warnings.warnings }

  /// Whether frames keep their own layout after the layout changes in mid-stream. Otherwise, frames
  /// with another number of channels are mixed to the first layout. Set this property before the
  /// first `read`. The default is false.
  public var followsLayout: Bool {
    get { decoder.runs.areFollowed }
    set { decoder.runs.areFollowed = newValue }
  }

  /// The stated length, in frames at `sampleRate`; nil if it is unknown or only estimated. It may
  /// be inexact for lossy codecs and for coarse timestamps, such as those of Matroska.
  public var duration: Int? {
    decoder.statedLength.map {
      Int(av_rescale_rnd($0, Int64(sampleRate), Int64(track.sampleRate), AV_ROUND_UP))
    }
  }

  /// Returns the layout of the next frames; nil at the end of the track. If a run has ended, begins
  /// the next run.
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

  /// Reads the next frames into `planar`, which holds one plane per channel. If `followsLayout` is
  /// set, reading stops at the end of a run until `nextLayout` is called.
  ///
  /// - Returns: the number of frames read, which is less than `frames` only at the end of a run or
  ///   of the track.
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

  /// Makes `frame`, at `sampleRate`, the next frame to read. A position outside the track is
  /// clamped to the start or, if the length is known, to the end.
  ///
  /// If timestamps do not identify single frames (Matroska), an earlier frame is reached by
  /// decoding from the start.
  ///
  /// - Throws: `MediaError` if reading or reopening the file fails or is interrupted; `.trackLost`
  ///   if the reopened file no longer has the track.
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

  /// Returns the frame from which to decode, at the track's rate, and the number of output frames
  /// to drop before the output frame `frame`. With resampling, decoding starts at a multiple of
  /// `ResamplingRatio.periodIn`, so that the filter phases are the same as without a seek.
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
