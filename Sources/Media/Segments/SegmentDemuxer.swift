// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// A segment that is open for reading the packets of one audio track.
struct SegmentDemuxer {
  let demuxer: Demuxer
  let track: AudioTrack
  let stream: UnsafeMutablePointer<AVStream>
  /// The first packet's timestamp, in units of the stream's time base, or FF_NO_TIMESTAMP; nil if
  /// there is no packet.
  private let firstTimestamp: Int64?
  private let statedTime: Double?
  /// The encoder delay in frames; 0 if not stated.
  let encoderDelay: Int64

  /// Opens a segment and selects the track with the identifier `wanted` or, without such a track,
  /// the track that `AudioTrack.richest` returns.
  ///
  /// - Throws: `MediaError` if the segment cannot be read, if the track `wanted` cannot be played,
  ///   or if there is no playable track.
  init(
    _ segment: CodedSegment, track wanted: Int?, interrupt: InterruptFlag?
  ) throws(MediaError) {
    let source = SegmentBytes(segment)
    demuxer = try Demuxer(source: source, interrupt: interrupt)
    let streams = demuxer.streams
    let tracks = AudioTrack.all(in: demuxer, source: source)
    let same = tracks.first { Int(streams[$0.streamIndex].pointee.id) == wanted }
    track = try AudioTrack.chosen(of: tracks, preferred: same, in: demuxer)
    stream = streams[track.streamIndex]
    demuxer.select(stream: track.streamIndex)
    let first = try demuxer.peek()
    encoderDelay = first.map { [stream] in Self.delay($0, stream.pointee.codecpar) } ?? 0
    firstTimestamp = first?.pointee.pts
    statedTime = segment.time
  }

  /// The track's identifier in the container.
  var identifier: Int { Int(stream.pointee.id) }

  /// The time of the first packet in seconds; nil if unknown.
  var start: Double? { firstTimestamp.flatMap { statedTime ?? time($0) } }

  /// Converts a timestamp in the stream's time base to seconds; nil for FF_NO_TIMESTAMP and for a
  /// bare stream, which contains no timestamps.
  func time(_ timestamp: Int64) -> Double? {
    guard timestamp != FF_NO_TIMESTAMP, !demuxer.isBareStream else { return nil }
    let base = stream.pointee.time_base
    return Double(timestamp) * Double(base.num) / Double(base.den)
  }

  /// Whether the decoder of `other` can continue with this segment.
  func continues(_ other: SegmentDemuxer) -> Bool {
    let (base, otherBase) = (stream.pointee.time_base, other.stream.pointee.time_base)
    return stream.pointee.codecpar.pointee.codec_id
      == other.stream.pointee.codecpar.pointee.codec_id
      && track.sampleRate == other.track.sampleRate && track.channels == other.track.channels
      && base.num == otherBase.num && base.den == otherBase.den
  }

  /// Returns the encoder delay from AV_PKT_DATA_SKIP_SAMPLES or from the Opus header; 0 if neither
  /// states it.
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
