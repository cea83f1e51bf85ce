// SPDX-License-Identifier: Apache-2.0

import CFFmpeg
import Glibc

/// Copies tracks from several files to a new file without encoding them again.
enum TrackCopier {
  struct Input {
    var path: String
    var isWanted: (UnsafeMutablePointer<AVStream>) -> Bool
  }

  struct Failure: Error { let reason: String }

  /// Descriptions of the wanted tracks.
  struct Result {
    /// The copied tracks, in their order in the new file.
    var copied: [String] = []
    /// The tracks that the container cannot store.
    var refused: [String] = []
  }

  /// Copies the wanted tracks of the inputs to a new file. If the container can store none of them,
  /// the file is empty.
  ///
  /// - Parameters:
  ///   - format: FFmpeg's name for the container.
  ///   - tuning: the tuning to attach, as JSON text; nil for none.
  /// - Throws: `Failure` if a file cannot be read or written, or if memory runs out.
  static func copy(
    _ inputs: [Input], to path: String, format: String, tuning: String? = nil
  ) throws(Failure) -> Result {
    av_log_set_level(AV_LOG_QUIET)
    let output = try Output(path: path, format: format)
    defer { output.close() }
    var result = Result()
    var readers: [Reader] = []
    for input in inputs {
      let reader = try Reader(input.path)
      for stream in reader.streams {
        guard input.isWanted(stream) else { continue }
        if let index = output.add(copyOf: stream) {
          reader.targets[stream.pointee.index] = index
          result.copied.append(Self.name(stream))
        } else {
          result.refused.append(Self.name(stream))
        }
      }
      readers.append(reader)
    }
    guard readers.contains(where: { !$0.targets.isEmpty }) else { return result }
    if let tuning { try output.attach(Array(tuning.utf8)) }
    try output.begin()
    for reader in readers { try reader.advance() }
    while let reader = readers.filter({ $0.hasPacket }).min(by: { $0.seconds < $1.seconds }) {
      try output.write(reader.packet, from: reader)
      try reader.advance()
    }
    try output.end()
    return result
  }

  static func name(_ stream: UnsafeMutablePointer<AVStream>) -> String {
    let type = av_get_media_type_string(stream.pointee.codecpar.pointee.codec_type)
    return "track \(stream.pointee.index + 1) (\(type.map { String(cString: $0) } ?? "unknown"))"
  }

  static func require(_ code: Int32) throws(Failure) {
    guard code >= 0 else { throw Failure(reason: AudioEncoder.text(code)) }
  }

  /// Reads the packets of a file's copied tracks, in the order in which FFmpeg returns them.
  private final class Reader {
    private var context: UnsafeMutablePointer<AVFormatContext>?
    let packet: UnsafeMutablePointer<AVPacket>
    /// The indices of the copied tracks in the output, keyed by their indices in the input.
    var targets: [Int32: Int32] = [:]
    private(set) var hasPacket = false

    init(_ path: String) throws(Failure) {
      guard let packet = av_packet_alloc() else { throw Failure(reason: "out of memory") }
      self.packet = packet
      try require(avformat_open_input(&context, "file:" + path, nil, nil))
      try require(avformat_find_stream_info(context, nil))
    }

    deinit {
      var packet: UnsafeMutablePointer<AVPacket>? = packet
      av_packet_free(&packet)
      avformat_close_input(&context)
    }

    var streams: [UnsafeMutablePointer<AVStream>] {
      guard let context else { return [] }
      return (0..<Int(context.pointee.nb_streams)).compactMap { context.pointee.streams[$0] }
    }

    /// The decoding time of the current packet or, if that is unknown, its presentation time, in
    /// seconds; 0 if both are unknown.
    var seconds: Double {
      let base = streams[Int(packet.pointee.stream_index)].pointee.time_base
      let time = packet.pointee.dts == FF_NO_TIMESTAMP ? packet.pointee.pts : packet.pointee.dts
      return time == FF_NO_TIMESTAMP ? 0 : Double(time) * Double(base.num) / Double(base.den)
    }

    /// Reads the next packet of a copied track. At the end of the file, `hasPacket` becomes false.
    func advance() throws(Failure) {
      av_packet_unref(packet)
      hasPacket = false
      while true {
        let code = av_read_frame(context, packet)
        if code == FF_ERROR_EOF { return }
        try require(code)
        if targets[packet.pointee.stream_index] != nil { break }
        av_packet_unref(packet)
      }
      hasPacket = true
    }
  }

  private final class Output {
    private var context: UnsafeMutablePointer<AVFormatContext>?

    init(path: String, format: String) throws(Failure) {
      try require(avformat_alloc_output_context2(&context, nil, format, "file:" + path))
      guard let context else { throw Failure(reason: "out of memory") }
      try require(avio_open(&context.pointee.pb, "file:" + path, AVIO_FLAG_WRITE))
    }

    func close() {
      guard let open = context else { return }
      avio_closep(&open.pointee.pb)
      avformat_free_context(open)
      context = nil
    }

    /// Adds a track with the parameters of `stream`. Returns its index, or nil if the container
    /// cannot store the track or memory runs out.
    func add(copyOf stream: UnsafeMutablePointer<AVStream>) -> Int32? {
      guard let context, let parameters = stream.pointee.codecpar else { return nil }
      let isStored = avformat_query_codec(
        context.pointee.oformat, parameters.pointee.codec_id, FF_COMPLIANCE_NORMAL)
      let isAttachment = parameters.pointee.codec_type == AVMEDIA_TYPE_ATTACHMENT
      guard parameters.pointee.codec_id != AV_CODEC_ID_NONE || isAttachment,
        isStored == 1 || isAttachment, let new = avformat_new_stream(context, nil)
      else { return nil }
      avcodec_parameters_copy(new.pointee.codecpar, parameters)
      new.pointee.codecpar.pointee.codec_tag = 0
      new.pointee.time_base = stream.pointee.time_base
      new.pointee.disposition = stream.pointee.disposition
      new.pointee.avg_frame_rate = stream.pointee.avg_frame_rate
      new.pointee.sample_aspect_ratio = stream.pointee.sample_aspect_ratio
      av_dict_copy(&new.pointee.metadata, stream.pointee.metadata, 0)
      let layout = parameters.pointee.ch_layout
      if layout.nb_channels == 4, layout.order == AV_CHANNEL_ORDER_AMBISONIC {
        av_channel_layout_uninit(&new.pointee.codecpar.pointee.ch_layout)
        new.pointee.codecpar.pointee.ch_layout.order = AV_CHANNEL_ORDER_UNSPEC
        new.pointee.codecpar.pointee.ch_layout.nb_channels = 4
      }
      return new.pointee.index
    }

    func attach(_ text: [UInt8]) throws(Failure) {
      guard let context, let new = avformat_new_stream(context, nil),
        let memory = av_mallocz(text.count + Int(AV_INPUT_BUFFER_PADDING_SIZE))
      else { throw Failure(reason: "out of memory") }
      let parameters = new.pointee.codecpar!
      parameters.pointee.codec_type = AVMEDIA_TYPE_ATTACHMENT
      memory.copyMemory(from: text, byteCount: text.count)
      parameters.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
      parameters.pointee.extradata_size = Int32(text.count)
      av_dict_set(&new.pointee.metadata, "filename", "stillstage-tuning.json", 0)
      av_dict_set(&new.pointee.metadata, "mimetype", "application/json", 0)
    }

    func begin() throws(Failure) {
      // By default, FFmpeg would delay all tracks of a Matroska file if one starts before 0, as
      // AAC tracks usually do.
      context?.pointee.avoid_negative_ts = 0
      try require(avformat_write_header(context, nil))
    }

    func write(
      _ packet: UnsafeMutablePointer<AVPacket>, from reader: Reader
    ) throws(Failure) {
      guard let context, let target = reader.targets[packet.pointee.stream_index],
        let stream = context.pointee.streams[Int(target)]
      else { return }
      let base = reader.streams[Int(packet.pointee.stream_index)].pointee.time_base
      av_packet_rescale_ts(packet, base, stream.pointee.time_base)
      packet.pointee.stream_index = target
      packet.pointee.pos = -1
      try require(av_interleaved_write_frame(context, packet))
    }

    func end() throws(Failure) {
      try require(av_write_trailer(context))
      avio_flush(context?.pointee.pb)
      if let error = context?.pointee.pb.pointee.error { try require(error) }
    }
  }
}
