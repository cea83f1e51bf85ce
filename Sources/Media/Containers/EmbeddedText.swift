// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// Text in a media file.
package enum EmbeddedText {
  /// The largest size of a piece of text, in bytes.
  private static let limit = 1 << 20

  /// Returns the timed metadata (`mebx`) of a QuickTime movie, and then the JSON attachments of a
  /// Matroska file. Returns an empty array if the file cannot be read.
  package static func read(_ path: String) -> [[UInt8]] {
    guard let source = try? FileByteSource(path: path),
      let demuxer = try? Demuxer.opening(source, interrupt: nil)
    else { return [] }
    return metadata(demuxer) + attachments(demuxer)
  }

  private static func metadata(_ demuxer: Demuxer) -> [[UInt8]] {
    let tag = UInt32(littleEndian: 0x7862_656d)  // "mebx"
    var isWanted: Set<Int32> = []
    for stream in demuxer.streams {
      let parameters = stream.pointee.codecpar.pointee
      let isMetadata = parameters.codec_type == AVMEDIA_TYPE_DATA && parameters.codec_tag == tag
      stream.pointee.discard = isMetadata ? AVDISCARD_DEFAULT : AVDISCARD_ALL
      if isMetadata { isWanted.insert(stream.pointee.index) }
    }
    guard !isWanted.isEmpty, let packet = av_packet_alloc() else { return [] }
    var owned: UnsafeMutablePointer<AVPacket>? = packet
    defer { av_packet_free(&owned) }
    var texts: [[UInt8]] = []
    while av_read_frame(demuxer.context, packet) >= 0 {
      if isWanted.contains(packet.pointee.stream_index), let data = packet.pointee.data {
        texts += values(
          Array(UnsafeBufferPointer(start: data, count: Int(packet.pointee.size).clamped(limit))))
      }
      av_packet_unref(packet)
    }
    return texts
  }

  /// Returns the values in a sample. Each value follows a length and a key identifier, 4 bytes
  /// each.
  private static func values(_ sample: [UInt8]) -> [[UInt8]] {
    var values: [[UInt8]] = []
    var at = 0
    while at + 8 <= sample.count {
      let size = sample[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      guard size >= 8, at + size <= sample.count else { break }
      values.append(Array(sample[at + 8..<at + size]))
      at += size
    }
    return values
  }

  private static func attachments(_ demuxer: Demuxer) -> [[UInt8]] {
    demuxer.streams(of: AVMEDIA_TYPE_ATTACHMENT).compactMap { stream in
      let parameters = stream.pointee.codecpar.pointee
      let name = demuxer.tag("filename", of: stream) ?? ""
      guard name.hasSuffix(".json"), let data = parameters.extradata else { return nil }
      return Array(
        UnsafeBufferPointer(start: data, count: Int(parameters.extradata_size).clamped(limit)))
    }
  }
}

extension Int {
  fileprivate func clamped(_ limit: Int) -> Int { Swift.max(0, Swift.min(self, limit)) }
}
