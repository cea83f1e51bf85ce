// SPDX-License-Identifier: Apache-2.0

import CFFmpeg
import Glibc

/// An AAC or FLAC encoder from libavcodec.
final class AudioEncoder {
  enum Kind {
    case aac(bitRate: Int)
    /// 24-bit FLAC. Each sample is passed in the upper 24 bits of a 32-bit integer.
    case flac
  }

  struct Failure: Error { let reason: String }

  /// The number of frames in each packet; the last packet may have fewer.
  let packetFrames: Int
  private let context: UnsafeMutablePointer<AVCodecContext>
  private let frame: UnsafeMutablePointer<AVFrame>
  private let packet: UnsafeMutablePointer<AVPacket>
  private var nextFrame: Int64 = 0
  /// The codec's header: the AudioSpecificConfig of AAC, or STREAMINFO of FLAC. At the end of a
  /// FLAC stream, the encoder replaces STREAMINFO with the final version.
  private(set) var header: [UInt8]

  /// Opens the encoder and switches off FFmpeg's log for this process.
  ///
  /// - Parameter kind: the codec; the bit rate of AAC is in bit/s.
  /// - Throws: `Failure` if the encoder cannot be opened.
  init(_ kind: Kind, channels: Int, sampleRate: Int) throws(Failure) {
    av_log_set_level(AV_LOG_QUIET)
    let (codec, sampleFormat) =
      switch kind {
      case .aac: (AV_CODEC_ID_AAC, AV_SAMPLE_FMT_FLTP)
      case .flac: (AV_CODEC_ID_FLAC, AV_SAMPLE_FMT_S32)
      }
    var allocated: UnsafeMutablePointer<AVCodecContext>?
    var frame = av_frame_alloc()
    var packet = av_packet_alloc()
    func refuse(_ code: Int32) -> Failure {
      avcodec_free_context(&allocated)
      av_frame_free(&frame)
      av_packet_free(&packet)
      return Failure(reason: Self.text(code))
    }
    guard let encoder = avcodec_find_encoder(codec) else {
      throw refuse(FF_ERROR_ENCODER_NOT_FOUND)
    }
    allocated = avcodec_alloc_context3(encoder)
    guard let context = allocated, let frame, let packet else { throw refuse(ff_error(ENOMEM)) }
    context.pointee.sample_fmt = sampleFormat
    context.pointee.sample_rate = Int32(sampleRate)
    av_channel_layout_default(&context.pointee.ch_layout, Int32(channels))
    context.pointee.time_base = AVRational(num: 1, den: Int32(sampleRate))
    context.pointee.thread_count = 1
    context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    switch kind {
    case .aac(let bitRate):
      context.pointee.bit_rate = Int64(bitRate)
      // Noise substitution and intensity stereo would change the phase differences between the
      // channels.
      av_dict_set(&options, "aac_pns", "0", 0)
      av_dict_set(&options, "aac_is", "0", 0)
    case .flac: context.pointee.bits_per_raw_sample = 24
    }
    var code = avcodec_open2(context, encoder, &options)
    guard code >= 0 else { throw refuse(code) }
    packetFrames = Int(context.pointee.frame_size)
    frame.pointee.nb_samples = context.pointee.frame_size
    frame.pointee.format = sampleFormat.rawValue
    frame.pointee.sample_rate = context.pointee.sample_rate
    av_channel_layout_copy(&frame.pointee.ch_layout, &context.pointee.ch_layout)
    code = av_frame_get_buffer(frame, 0)
    guard code >= 0 else { throw refuse(code) }
    (self.context, self.frame, self.packet) = (context, frame, packet)
    header = Array(
      UnsafeBufferPointer(
        start: context.pointee.extradata, count: Int(context.pointee.extradata_size)))
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = context
    var frame: UnsafeMutablePointer<AVFrame>? = frame
    var packet: UnsafeMutablePointer<AVPacket>? = packet
    avcodec_free_context(&context)
    av_frame_free(&frame)
    av_packet_free(&packet)
  }

  /// Encodes `count` frames. `count` must be `packetFrames`; in the last call, it may be smaller.
  ///
  /// - Parameter fill: writes the frames, as channels x frames for AAC or as frames x channels for
  ///   FLAC.
  /// - Returns: the packets that are now complete.
  func encode(
    frames count: Int, fill: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Void
  ) throws(Failure) -> [[UInt8]] {
    let code = av_frame_make_writable(frame)
    guard code >= 0 else { throw Failure(reason: Self.text(code)) }
    frame.pointee.nb_samples = Int32(count)
    frame.pointee.pts = nextFrame
    nextFrame += Int64(count)
    fill(frame.pointee.extended_data)
    return try packets(after: avcodec_send_frame(context, frame))
  }

  /// Ends the stream and returns the remaining packets.
  func drain() throws(Failure) -> [[UInt8]] {
    try packets(after: avcodec_send_frame(context, nil))
  }

  private func packets(after sent: Int32) throws(Failure) -> [[UInt8]] {
    guard sent >= 0 else { throw Failure(reason: Self.text(sent)) }
    var packets: [[UInt8]] = []
    while true {
      let code = avcodec_receive_packet(context, packet)
      if code == ff_error(EAGAIN) || code == FF_ERROR_EOF { return packets }
      guard code >= 0 else { throw Failure(reason: Self.text(code)) }
      var size = 0
      if let side = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &size), size > 0 {
        header = Array(UnsafeBufferPointer(start: side, count: size))
      }
      let bytes = UnsafeBufferPointer(
        start: packet.pointee.data, count: Int(packet.pointee.size))
      if !bytes.isEmpty { packets.append(Array(bytes)) }
      av_packet_unref(packet)
    }
  }

  static func text(_ code: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      buffer.initialize(repeating: 0)
      av_strerror(code, buffer.baseAddress, buffer.count)
      return String(cString: buffer.baseAddress!)
    }
  }
}
