// SPDX-License-Identifier: Apache-2.0

import CFFmpeg
import Glibc

/// An open container: its streams, and packets in file order.
final class Demuxer {
  enum Next {
    case packet
    /// The container is damaged here; the next call goes on behind it.
    case damaged
    case end
  }

  let context: UnsafeMutablePointer<AVFormatContext>
  private static let longestStall = 100
  private let io: IOContext
  private var stalls = 0
  /// Byte offsets in the file.
  private var lastPacketPlace: Int64 = -1
  private var lastPageTried: Int64 = -1
  private var lastErrorPlace: Int64 = -1

  /// - Throws: `MediaError` when no demuxer accepts the bytes, or when interrupted.
  init(source: any ByteSource, interrupt: InterruptFlag?) throws(MediaError) {
    av_log_set_level(AV_LOG_QUIET)
    io = try IOContext(source: source, interrupt: interrupt)
    guard let allocated = avformat_alloc_context() else {
      throw .openFailed(path: source.name, reason: "out of memory")
    }
    allocated.pointee.pb = io.context
    allocated.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    allocated.pointee.io_open = { _, _, _, _, _ in FF_ERROR_EXIT }
    if let interrupt {
      allocated.pointee.interrupt_callback = AVIOInterruptCB(
        callback: { opaque in
          Unmanaged<InterruptFlag>.fromOpaque(opaque!).takeUnretainedValue().isRaised ? 1 : 0
        }, opaque: Unmanaged.passUnretained(interrupt).toOpaque())
    }
    var opened: UnsafeMutablePointer<AVFormatContext>? = allocated
    var result = avformat_open_input(&opened, source.name, nil, nil)
    guard result >= 0, let opened else { throw Self.openError(result, io) }
    context = opened
    result = avformat_find_stream_info(context, nil)
    if interrupt?.isRaised == true { throw .interrupted }
    if let failure = io.failure { throw failure }
    guard result >= 0 || context.pointee.nb_streams > 0 else { throw Self.openError(result, io) }
  }

  deinit {
    var closing: UnsafeMutablePointer<AVFormatContext>? = context
    avformat_close_input(&closing)
  }

  var streams: [UnsafeMutablePointer<AVStream>] {
    (0..<Int(context.pointee.nb_streams)).compactMap { context.pointee.streams[$0] }
  }

  /// The short name of the container's format ("wav", "mov,mp4,…").
  var format: String { String(cString: context.pointee.iformat.pointee.name) }

  /// Whether packets are cut out of a bare stream of frames: a damaged frame header then makes one
  /// packet of several.
  var isBareStream: Bool { ["ac3", "eac3", "aac", "mp3"].contains(format) }

  /// Undoes what reading from the source directly did to its position.
  func resume() { io.resume() }

  /// Lets only packets of one stream through.
  func select(stream index: Int) {
    for stream in streams {
      stream.pointee.discard =
        Int(stream.pointee.index) == index ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }

  /// - Throws: `.interrupted`, or the source's own error.
  func next(into packet: UnsafeMutablePointer<AVPacket>) throws(MediaError) -> Next {
    let result = av_read_frame(context, packet)
    if io.interrupt?.isRaised == true { throw .interrupted }
    if result >= 0 {
      lastPacketPlace = max(lastPacketPlace, packet.pointee.pos)
      return .packet
    }
    if let failure = io.failure { throw failure }
    if result == FF_ERROR_EOF { return resumeBehindDamagedPage() ? .damaged : .end }
    // Errors without progress would never end.
    let place = context.pointee.pb.pointee.pos
    stalls = place == lastErrorPlace ? stalls + 1 : 0
    lastErrorPlace = place
    return stalls > Self.longestStall ? .end : .damaged
  }

  /// Moves to the last place from which a packet at `timestamp` (in the stream's time base) or an
  /// earlier one comes next.
  func seek(stream index: Int, timestamp: Int64) -> Bool {
    lastPacketPlace = -1
    lastPageTried = -1
    return avformat_seek_file(context, Int32(index), .min, timestamp, timestamp, 0) >= 0
  }

  /// An Ogg page whose damaged header claims more bytes than the file has left looks like the end
  /// to libavformat. Goes on at the next page behind it.
  private func resumeBehindDamagedPage() -> Bool {
    guard format == "ogg" else { return false }
    let pages = OggPages(io.source)
    let page = pages.damaged(after: max(lastPacketPlace, lastPageTried))
    io.resume()
    guard let page else { return false }
    lastPageTried = page
    return avio_seek(context.pointee.pb, page, SEEK_SET) >= 0
  }

  private static func openError(_ code: Int32, _ io: IOContext) -> MediaError {
    if io.interrupt?.isRaised == true { return .interrupted }
    if let failure = io.failure { return failure }
    let name = io.source.name
    if code == FF_ERROR_INVALID_DATA {
      return QuickTimeBoxes(io.source).isCutShort
        ? .missingIndex(path: name) : .unrecognised(path: name)
    }
    if code == FF_ERROR_DEMUXER_NOT_FOUND { return .unrecognised(path: name) }
    return .openFailed(path: name, reason: ffmpegText(code))
  }
}

/// FFmpeg's words for an error code.
func ffmpegText(_ code: Int32) -> String {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
    buffer.initialize(repeating: 0)
    av_strerror(code, buffer.baseAddress, buffer.count)
    return String(cString: buffer.baseAddress!)
  }
}
