// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
public import HLS
public import Media
public import Rendering
internal import SignalProcessing

/// Decodes consecutive segments of one rendition.
final class RenditionReader {
  let rendition: Int
  let layout: ChannelLayout
  /// The frame of the presentation that `read` returns next.
  var position: Int
  var level = RenditionLevel(at: 0)
  private let decoder: SegmentDecoder
  private let initialisation: [UInt8]
  let discontinuity: Int
  /// The frames that have been decoded but not read.
  private(set) var ahead: SoundLine
  private let scratch: PlanarScratch
  private static let blockFrames = 4096

  /// Creates a reader that begins with a segment.
  ///
  /// - Parameters:
  ///   - rendition: the index of the rendition in the ladder.
  ///   - isStart: whether the presentation begins with this segment.
  ///   - sampleRate: the output sample rate in Hz; nil for the rate of the segment.
  /// - Throws: `PlaybackError.media` if the segment cannot be decoded, or `.interrupted`.
  init(
    _ segment: SuppliedSegment, rendition: Int, isStart: Bool, sampleRate: Int?,
    settings: RenderSettings, interrupt: InterruptFlag?
  ) throws(PlaybackError) {
    decoder = try Self.media { () throws(MediaError) in
      try SegmentDecoder(
        first: CodedSegment(segment), isStart: isStart, sampleRate: sampleRate,
        dynamicRange: settings.dynamicRange, interrupt: interrupt)
    }
    self.rendition = rendition
    layout = Self.layout(decoder.track, settings.layout)
    initialisation = segment.initialisation
    discontinuity = segment.discontinuity
    position = 0
    ahead = SoundLine(channels: decoder.channels)
    scratch = PlanarScratch(channels: decoder.channels, frames: Self.blockFrames)
  }

  private static func media<T>(
    _ body: () throws(MediaError) -> T
  ) throws(PlaybackError) -> T {
    do throws(MediaError) { return try body() } catch { throw PlaybackError(error) }
  }

  var sampleRate: Int { decoder.sampleRate }
  func frames(_ seconds: Double) -> Int { Int((seconds * Double(sampleRate)).rounded()) }
  /// The frame of the presentation after the last one that has been decoded.
  var end: Int { position + ahead.count }
  /// Returns decoded frames that have not been read: channels x frames. The range is in frames of
  /// the presentation.
  func coming(_ range: Range<Int>) -> [[Float]] {
    ahead.sound((range.lowerBound - position)..<(range.upperBound - position))
  }
  /// The approximate number of places where sound was damaged, missing or muted.
  var damages: Int { decoder.damages }
  var isBinaural: Bool { decoder.track.isBinaural }
  /// The timestamp of the first frame, in seconds; nil if it has none.
  var startTime: Double? { decoder.startTime }

  /// The number of frames, at the output rate, that the codec needs to converge.
  var warmUpFrames: Int {
    let seconds: Double =
      switch decoder.track.codec {
      case "aac": 1024.0 / Double(decoder.track.sampleRate)
      case "ac3", "eac3": 256.0 / Double(decoder.track.sampleRate)
      case "mp3", "mp3float", "mp2": 1152.0 * 2 / Double(decoder.track.sampleRate)
      case "opus": 0.08
      case "vorbis": 0.05
      default: 0
      }
    return Int((seconds * Double(sampleRate)).rounded(.up))
  }

  /// Returns the layout of a track. The user's layout applies if it fits the channels.
  private static func layout(_ track: AudioTrack, _ option: LayoutOption) -> ChannelLayout {
    (try? option.resolve(track: track)) ?? (try? LayoutOption.auto.resolve(track: track))
      ?? track.layout
  }

  /// Continues with another segment. Call this function when `read` returns 0.
  ///
  /// - Returns: how the segment relates to the previous one. The segment is accepted only if the
  ///   result is `.follows`.
  /// - Throws: `PlaybackError.media` if the segment cannot be read, or `.interrupted`.
  func append(_ segment: SuppliedSegment) throws(PlaybackError) -> SegmentDecoder.Succession {
    guard segment.discontinuity == discontinuity, segment.initialisation == initialisation else {
      return .differs
    }
    return try Self.media { () throws(MediaError) in try decoder.append(CodedSegment(segment)) }
  }

  func finish() { decoder.finish() }

  /// Reads the next frames, channels x frames, at the current level.
  ///
  /// - Returns: the number of frames; 0 if the next segment is needed, or at the end.
  func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    var count = min(frames, ahead.count)
    if count > 0 {
      ahead.copy(count, into: planes)
      ahead.removeFirst(count)
    } else {
      count = try decode(into: planes, frames)
    }
    level.apply(to: planes, channels: decoder.channels, frames: count, sampleRate: sampleRate)
    position += count
    return count
  }

  private func decode(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, _ frames: Int
  ) throws(PlaybackError) -> Int {
    try Self.media { () throws(MediaError) in try decoder.read(into: planes, frames: frames) }
  }

  /// Decodes ahead until `frames` frames are available or the supplied segments end.
  func decodeAhead(_ frames: Int) throws(PlaybackError) {
    while ahead.count < frames {
      let count = try decode(into: scratch.planes, min(Self.blockFrames, frames - ahead.count))
      if count == 0 { return }
      ahead.append(UnsafePointer(scratch.planes), frames: count)
    }
  }

  /// Skips `frames` frames, or as many as are left in the supplied segments.
  func drop(_ frames: Int) throws(PlaybackError) {
    var left = frames
    while left > 0 {
      if ahead.count == 0 { try decodeAhead(min(left, Self.blockFrames)) }
      let count = min(left, ahead.count)
      if count == 0 { return }
      ahead.removeFirst(count)
      position += count
      left -= count
    }
  }
}

extension CodedSegment {
  init(_ segment: SuppliedSegment) {
    self.init(
      name: segment.name, initialisation: segment.initialisation, bytes: segment.bytes,
      time: segment.taggedTime)
  }
}

extension RenditionDescription {
  /// Describes a segment by decoding its beginning. Returns nil if the segment cannot be decoded or
  /// the interrupt flag is raised.
  public init?(of segment: SuppliedSegment, settings: RenderSettings, interrupt: InterruptFlag?) {
    guard
      let reader = try? RenditionReader(
        segment, rendition: 0, isStart: true, sampleRate: nil, settings: settings,
        interrupt: interrupt)
    else { return nil }
    self.init(channels: reader.layout.channelCount, isBinaural: reader.isBinaural)
  }
}
