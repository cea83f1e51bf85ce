// SPDX-License-Identifier: Apache-2.0

import CFFmpeg
import Glibc

/// A Matroska file with PCM, written by libavformat. Each segment starts a new cluster.
final class MatroskaBody: RecordingBody {
  let segmentSeconds = 0.5
  private(set) var storedFrames: Int64 = 0
  private let format: RecordingFormat
  private let path: String
  private let staged: StagedOutput
  private let context: UnsafeMutablePointer<AVFormatContext>
  private let packet: UnsafeMutablePointer<AVPacket>

  /// Prepares the multiplexer.
  ///
  /// - Throws: `RecordingError.encodingFailed` if FFmpeg cannot write Matroska or memory runs out.
  init(_ format: RecordingFormat, path: String) throws(RecordingError) {
    av_log_set_level(AV_LOG_QUIET)
    self.format = format
    self.path = path
    var allocated: UnsafeMutablePointer<AVFormatContext>?
    let code = avformat_alloc_output_context2(&allocated, nil, "matroska", nil)
    guard code >= 0, let context = allocated, let packet = av_packet_alloc(),
      let staged = StagedOutput(), let stream = avformat_new_stream(context, nil)
    else { throw .encodingFailed(path: path, reason: AudioEncoder.text(min(code, -1))) }
    (self.context, self.packet, self.staged) = (context, packet, staged)
    context.pointee.pb = staged.context
    context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    let parameters = stream.pointee.codecpar!
    let isInteger = format.codec == .pcm24
    parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
    parameters.pointee.codec_id = isInteger ? AV_CODEC_ID_PCM_S24LE : AV_CODEC_ID_PCM_F32LE
    parameters.pointee.sample_rate = Int32(format.sampleRate)
    parameters.pointee.bits_per_coded_sample = isInteger ? 24 : 32
    parameters.pointee.block_align = Int32(format.bytesPerFrame)
    parameters.pointee.ch_layout.order = AV_CHANNEL_ORDER_UNSPEC
    parameters.pointee.ch_layout.nb_channels = Int32(format.channels)
    stream.pointee.time_base = AVRational(num: 1, den: Int32(format.sampleRate))
  }

  deinit {
    var packet: UnsafeMutablePointer<AVPacket>? = packet
    av_packet_free(&packet)
    avformat_free_context(context)
  }

  func begin(_ output: RecordingOutput) throws(RecordingError) {
    try require(avformat_write_header(context, nil))
    // FFmpeg cannot open a file without a cluster, so a cluster without blocks follows the header
    // (RFC 9559, section 5.1.3).
    let cluster: [UInt8] = [0x1F, 0x43, 0xB6, 0x75, 0x83, 0xE7, 0x81, 0]
    avio_write(staged.context, cluster, Int32(cluster.count))
    try staged.apply(to: output)
  }

  func write(_ segment: RecordingSegment, to output: RecordingOutput) throws(RecordingError) {
    let bytes = segment.bytes(format.codec)
    // Timestamps have a resolution of 1 ms. If the sample rate is a multiple of 10 Hz and all
    // segments have their full length, the timestamps of blocks of 0.1 s need no rounding.
    let step = max(1, format.sampleRate / 10)
    var done = 0
    while done < segment.frames {
      let count = min(step, segment.frames - done)
      let range = done * format.bytesPerFrame..<(done + count) * format.bytesPerFrame
      try writeBlock(bytes[range], at: storedFrames + Int64(done), frames: count)
      done += count
    }
    // The multiplexer keeps the last block until it receives another one, so it receives an empty
    // block here. A nil packet ends the cluster.
    try writeBlock([], at: storedFrames + Int64(segment.frames), frames: 0)
    try require(av_write_frame(context, nil))
    try staged.apply(to: output)
    storedFrames += Int64(segment.frames)
  }

  func finish(
    _ output: RecordingOutput, tuning: String, isWhole: Bool
  ) throws(RecordingError) {
    // After an error, the index would list clusters that are missing from the file.
    guard isWhole else { return }
    try require(av_write_trailer(context))
    try staged.apply(to: output)
  }

  private func writeBlock(
    _ bytes: ArraySlice<UInt8>, at frame: Int64, frames: Int
  ) throws(RecordingError) {
    try require(av_new_packet(packet, Int32(bytes.count)))
    defer { av_packet_unref(packet) }
    bytes.withUnsafeBytes { source in
      UnsafeMutableRawBufferPointer(start: packet.pointee.data, count: source.count)
        .copyMemory(from: source)
    }
    let stream = context.pointee.streams[0]!.pointee
    let base = AVRational(num: 1, den: Int32(format.sampleRate))
    packet.pointee.pts = av_rescale_q(frame, base, stream.time_base)
    packet.pointee.dts = packet.pointee.pts
    packet.pointee.duration = av_rescale_q(Int64(frames), base, stream.time_base)
    packet.pointee.flags |= AV_PKT_FLAG_KEY
    try require(av_write_frame(context, packet))
  }

  private func require(_ code: Int32) throws(RecordingError) {
    guard code >= 0 else {
      throw .encodingFailed(path: path, reason: AudioEncoder.text(code))
    }
  }
}

/// The output of a libavformat multiplexer. The bytes stay in memory until `apply` writes them to
/// the file.
private final class StagedOutput {
  private(set) var context: UnsafeMutablePointer<AVIOContext>?
  /// The bytes to append to the file.
  private var tail: [UInt8] = []
  /// The size of the file after the last `apply`, in bytes.
  private var fileSize = 0
  private var patches: [(offset: Int, bytes: [UInt8])] = []
  private var position = 0

  private static let bufferSize = 65536

  /// Returns nil if memory runs out.
  init?() {
    guard let buffer = av_malloc(Self.bufferSize)?.assumingMemoryBound(to: UInt8.self) else {
      return nil
    }
    context = avio_alloc_context(
      buffer, Int32(Self.bufferSize), 1, Unmanaged.passUnretained(self).toOpaque(), nil,
      { opaque, bytes, count in StagedOutput.from(opaque).write(bytes, count) },
      { opaque, offset, whence in StagedOutput.from(opaque).seek(offset, whence) })
    guard context != nil else {
      av_free(buffer)
      return nil
    }
    context!.pointee.seekable = AVIO_SEEKABLE_NORMAL
  }

  deinit {
    if context != nil { av_freep(&context!.pointee.buffer) }
    avio_context_free(&context)
  }

  /// Appends the new bytes to the file, and then overwrites the earlier bytes that have changed.
  func apply(to output: RecordingOutput) throws(RecordingError) {
    avio_flush(context)
    try output.append(tail)
    fileSize += tail.count
    tail = []
    for patch in patches { try output.patch(patch.bytes, at: Int64(patch.offset)) }
    patches = []
  }

  private static func from(_ opaque: UnsafeMutableRawPointer?) -> StagedOutput {
    Unmanaged<StagedOutput>.fromOpaque(opaque!).takeUnretainedValue()
  }

  private func write(_ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int32) -> Int32 {
    let new = [UInt8](UnsafeBufferPointer(start: bytes, count: Int(count)))
    let early = min(new.count, max(0, fileSize - position))
    if early > 0 { patches.append((position, Array(new[..<early]))) }
    let start = position + early - fileSize
    if early < new.count {
      if tail.count < start { tail += [UInt8](repeating: 0, count: start - tail.count) }
      let replaced = min(tail.count - start, new.count - early)
      tail.replaceSubrange(start..<start + replaced, with: new[early...])
    }
    position += new.count
    return count
  }

  private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
    switch whence & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return Int64(fileSize + tail.count)
    case SEEK_SET: position = Int(offset)
    case SEEK_CUR: position += Int(offset)
    case SEEK_END: position = fileSize + tail.count + Int(offset)
    default: return Int64(ff_error(EINVAL))
    }
    return Int64(position)
  }
}
