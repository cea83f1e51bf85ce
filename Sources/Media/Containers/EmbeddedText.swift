// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// Reads the JSON objects in the timed metadata and attachments of a media file.
package enum EmbeddedText {
  /// The largest number of bytes that are parsed in a metadata sample or returned for an
  /// attachment.
  private static let limit = 1 << 20
  /// The number of bytes after which reading of timed metadata ends. Each metadata sample counts as
  /// at least `sampleCost` bytes.
  private static let totalLimit = 64 << 20
  private static let sampleCost = 64
  /// The largest number of objects that are read from timed metadata.
  private static let countLimit = 1000

  /// Returns the objects in the timed metadata (`mebx`) of a QuickTime movie and the JSON
  /// attachments of a Matroska file. Returns an empty array if the file cannot be read.
  ///
  /// Many metadata samples can share the same bytes of a file. The timed metadata is therefore read
  /// only up to 64 MiB and 1000 objects.
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
    var objects: [[UInt8]] = []
    var rest = totalLimit
    while rest > 0, objects.count < countLimit, av_read_frame(demuxer.context, packet) >= 0 {
      rest -= max(sampleCost, Int(packet.pointee.size))
      if isWanted.contains(packet.pointee.stream_index), let data = packet.pointee.data {
        let size = Int(packet.pointee.size).clamped(limit)
        objects += Self.objects(in: Array(UnsafeBufferPointer(start: data, count: size)))
          .prefix(countLimit - objects.count)
      }
      av_packet_unref(packet)
    }
    return objects
  }

  /// Returns the values of a metadata sample that begin with `{`, like a JSON object. A value is
  /// preceded by its length and a key identifier, 4 bytes each. The length includes these 8 bytes.
  private static func objects(in sample: [UInt8]) -> [[UInt8]] {
    var objects: [[UInt8]] = []
    var at = 0
    while at + 8 <= sample.count, objects.count < countLimit {
      let size = sample[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      guard size >= 8, at + size <= sample.count else { break }
      if size > 8, sample[at + 8] == UInt8(ascii: "{") {
        objects.append(Array(sample[at + 8..<at + size]))
      }
      at += size
    }
    return objects
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
