// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// The packets of one audio track of one piece.
final class PieceDemuxer {
  let name: String
  let demuxer: Demuxer
  let track: AudioTrack
  let stream: UnsafeMutablePointer<AVStream>
  /// The identifier that the container gives the track.
  var identifier: Int { Int(stream.pointee.id) }
  private let time: Double?
  /// The first packet, taken out to know its time.
  private var held: UnsafeMutablePointer<AVPacket>?

  /// - Parameter wanted: the track's identifier; nil, or where there is no such one, for the richest.
  init(
    _ piece: CodedPiece, track wanted: Int?, interrupt: InterruptFlag?
  ) throws(MediaError) {
    let source = PieceBytes(piece)
    name = piece.name
    demuxer = try Demuxer(source: source, interrupt: interrupt)
    time = piece.time
    let tracks = AudioTrack.all(in: demuxer, source: source)
    let streams = demuxer.streams
    let same = tracks.first { Int(streams[$0.streamIndex].pointee.id) == wanted }
    guard let chosen = same ?? AudioTrack.richest(of: tracks) ?? tracks.first else {
      let hasVideo = streams.contains {
        $0.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_VIDEO
      }
      throw .noAudio(path: piece.name, hasVideo: hasVideo)
    }
    if let problem = chosen.problem {
      throw .unplayable(path: piece.name, track: chosen.number, problem: problem)
    }
    track = chosen
    stream = streams[chosen.streamIndex]
    demuxer.select(stream: chosen.streamIndex)
    held = try firstPacket()
  }

  deinit { av_packet_free(&held) }

  private func firstPacket() throws(MediaError) -> UnsafeMutablePointer<AVPacket>? {
    var packet = av_packet_alloc()
    while let open = packet {
      switch try demuxer.next(into: open) {
      case .packet where Int(open.pointee.stream_index) == track.streamIndex: return open
      case .packet: av_packet_unref(open)
      case .damaged: continue
      case .end: av_packet_free(&packet)
      }
    }
    return nil
  }

  /// Of the first packet, s; nil where the piece has no clock, or no packet.
  var start: Double? {
    guard let held else { return nil }
    return time ?? (demuxer.isBareStream ? nil : seconds(held.pointee.pts))
  }

  var isEmpty: Bool { held == nil }

  func next(into packet: UnsafeMutablePointer<AVPacket>) throws(MediaError) -> Demuxer.Next {
    guard held != nil else { return try demuxer.next(into: packet) }
    av_packet_move_ref(packet, held)
    av_packet_free(&held)
    return .packet
  }

  /// Of a timestamp, s.
  func seconds(_ timestamp: Int64) -> Double? {
    guard timestamp != FF_NO_TIMESTAMP else { return nil }
    let base = stream.pointee.time_base
    return Double(timestamp) * Double(base.num) / Double(base.den)
  }
}
