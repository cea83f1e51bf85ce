// SPDX-License-Identifier: Apache-2.0

import CFFmpeg
import Glibc

/// A libavcodec decoder for one track.
final class Codec {
  enum Output {
    case frame
    case needsPacket
    case invalid
    case end
  }

  let frame: UnsafeMutablePointer<AVFrame>
  private let context: UnsafeMutablePointer<AVCodecContext>
  var identifier: AVCodecID { context.pointee.codec_id }
  /// Whether the codec has no lossless mode.
  let isLossy: Bool

  /// Opens the codec of a track.
  ///
  /// - Throws: `MediaError.unplayable` if FFmpeg has no decoder for the track or the decoder cannot
  ///   be opened.
  init(
    _ demuxer: Demuxer, track: AudioTrack, dynamicRange: DynamicRange
  ) throws(MediaError) {
    let stream = demuxer.streams[track.streamIndex]
    let parameters = stream.pointee.codecpar!
    var allocated: UnsafeMutablePointer<AVCodecContext>?
    var frame = av_frame_alloc()
    func refuse(_ code: Int32) -> MediaError {
      avcodec_free_context(&allocated)
      av_frame_free(&frame)
      return .unplayable(
        path: demuxer.name, track: track.number,
        problem: .decoder(codec: track.codec, reason: ffmpegText(code)))
    }
    guard let codec = avcodec_find_decoder(parameters.pointee.codec_id) else {
      throw .unplayable(
        path: demuxer.name, track: track.number, problem: .noDecoder(codec: track.codec))
    }
    allocated = avcodec_alloc_context3(codec)
    guard let context = allocated, frame != nil else { throw refuse(ff_error(ENOMEM)) }
    var code = avcodec_parameters_to_context(context, parameters)
    guard code >= 0 else { throw refuse(code) }
    ff_set_packet_time_base(context, stream.pointee.time_base)
    context.pointee.thread_count = 1
    if Self.checksummed.contains(parameters.pointee.codec_id) {
      // Reject a frame that fails its checksum, so that silence replaces it.
      context.pointee.err_recognition |= AV_EF_CRCCHECK | AV_EF_EXPLODE
    }
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    if Self.levelling.contains(parameters.pointee.codec_id) { dynamicRange.set(on: &options) }
    code = avcodec_open2(context, codec, &options)
    guard code >= 0 else { throw refuse(code) }
    self.context = context
    self.frame = frame!
    let properties = avcodec_descriptor_get(parameters.pointee.codec_id)?.pointee.props ?? 0
    isLossy = properties & AV_CODEC_PROP_LOSSLESS == 0
  }

  deinit {
    var closing: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&closing)
    var freeing: UnsafeMutablePointer<AVFrame>? = frame
    av_frame_free(&freeing)
  }

  /// Sends a packet to the codec; nil marks the end of the stream. Returns false if the codec
  /// rejects the packet.
  func send(_ packet: UnsafeMutablePointer<AVPacket>?) -> Bool {
    let result = avcodec_send_packet(context, packet)
    return result >= 0 || result == FF_ERROR_EOF
  }

  func receive() -> Output {
    let result = avcodec_receive_frame(context, frame)
    switch result {
    case 0...: return .frame
    case ff_error(EAGAIN): return .needsPacket
    case FF_ERROR_EOF: return .end
    default: return .invalid
    }
  }

  /// Whether the packet holds lossless PCM and ends in the middle of a frame. If the codec rejects
  /// such a packet, the error can be ignored.
  func isFragment(_ packet: UnsafeMutablePointer<AVPacket>) -> Bool {
    let bits = av_get_exact_bits_per_sample(context.pointee.codec_id)
    let frameBits = bits * context.pointee.ch_layout.nb_channels
    return !isLossy && frameBits > 0 && packet.pointee.size * 8 % frameBits != 0
  }

  /// Makes the codec keep the encoder delay and padding in its output.
  func leaveDelay() { context.pointee.flags2 |= AV_CODEC_FLAG2_SKIP_MANUAL }

  func flush() { avcodec_flush_buffers(context) }

  /// Whether the codec itself brings dialogue to `DynamicRange.dialogueLevel`.
  var hasDialogueLevel: Bool { Self.levelling.contains(context.pointee.codec_id) }

  private static let levelling: Set<AVCodecID> = [AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3]

  private static let checksummed: Set<AVCodecID> = [
    AV_CODEC_ID_FLAC, AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3, AV_CODEC_ID_TTA, AV_CODEC_ID_WAVPACK,
  ]
}
