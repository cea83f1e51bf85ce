// SPDX-License-Identifier: Apache-2.0

import CFFmpeg
import Glibc

/// An open container and the packets of one of its streams.
final class Demuxer {
  enum Next {
    case packet
    /// The container is damaged here; the next call tries to continue after the damage.
    case damaged
    case end
  }

  let context: UnsafeMutablePointer<AVFormatContext>
  private static let longestStall = 100
  /// The largest memory block that libavformat and libavcodec may allocate, in bytes. Without a
  /// limit, a tiny movie file could state so many samples that their index would need gigabytes.
  /// The limit is enough for the index of 65 hours of AAC at 48 kHz.
  private static let largestBlock = 256 << 20
  private static let mostStreams: Int32 = 128
  let format: ContainerFormat
  private let io: IOContext
  /// The stream that `next` reads; nil before `select`.
  private(set) var selected: UnsafeMutablePointer<AVStream>?
  /// The packet that `peek` has read and `next` has not returned yet.
  private var peeked: UnsafeMutablePointer<AVPacket>?
  private var stalls = 0
  /// Byte offsets of the furthest packet, of the last Ogg page at which reading resumed, and of the
  /// last error; -1 if there is none.
  private var lastPacketPlace: Int64 = -1
  private var lastPageTried: Int64 = -1
  private var lastErrorPlace: Int64 = -1

  /// Opens a container.
  ///
  /// - Throws: `MediaError` if the source cannot be read, if libavformat cannot open it, or if
  ///   `interrupt` is raised.
  init(source: any ByteSource, interrupt: InterruptFlag?) throws(MediaError) {
    av_log_set_level(AV_LOG_QUIET)
    av_max_alloc(Self.largestBlock)
    io = try IOContext(source: source, interrupt: interrupt)
    guard let allocated = avformat_alloc_context() else {
      throw .openFailed(path: source.name, reason: "out of memory")
    }
    allocated.pointee.pb = io.context
    allocated.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    allocated.pointee.max_streams = Self.mostStreams
    // A container must not open other files or connections. Some demuxers, such as those for concat
    // scripts and SDP, do so without `io_open`. The whitelist prevents this.
    allocated.pointee.io_open = { _, _, _, _, _ in FF_ERROR_EXIT }
    allocated.pointee.protocol_whitelist = av_strdup("none")
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
    format = ContainerFormat(String(cString: opened.pointee.iformat.pointee.name))
    result = avformat_find_stream_info(context, nil)
    if interrupt?.isRaised == true { throw .interrupted }
    if let failure = io.failure { throw failure }
    guard result >= 0 || context.pointee.nb_streams > 0 else { throw Self.openError(result, io) }
  }

  /// Opens a container.
  ///
  /// libavformat rejects a movie that is truncated within a `moof` box. Such a movie is opened
  /// without the incomplete box if a complete box follows the `moov` box.
  ///
  /// - Throws: the errors of `init(source:interrupt:)`.
  static func opening(
    _ source: any ByteSource, interrupt: InterruptFlag?
  ) throws(MediaError) -> Demuxer {
    do { return try Demuxer(source: source, interrupt: interrupt) } catch {
      guard error.isOfContent, let length = MovieBoxes(source).wholeLength else {
        throw error
      }
      return try Demuxer(
        source: ShortenedByteSource(source, length: length), interrupt: interrupt)
    }
  }

  /// Opens the source of `other` again from its start.
  convenience init(reopening other: Demuxer) throws(MediaError) {
    try self.init(source: other.io.source, interrupt: other.io.interrupt)
  }

  deinit {
    av_packet_free(&peeked)
    var closing: UnsafeMutablePointer<AVFormatContext>? = context
    avformat_close_input(&closing)
  }

  var streams: [UnsafeMutablePointer<AVStream>] {
    (0..<Int(context.pointee.nb_streams)).compactMap { context.pointee.streams[$0] }
  }

  func streams(of type: AVMediaType) -> [UnsafeMutablePointer<AVStream>] {
    streams.filter { $0.pointee.codecpar.pointee.codec_type == type }
  }

  var hasVideo: Bool { !streams(of: AVMEDIA_TYPE_VIDEO).isEmpty }

  /// Returns a tag of the file or, if there is none, of the selected stream; nil if neither has the
  /// tag.
  func tag(_ name: String) -> String? {
    metadata(context.pointee.metadata, name) ?? metadata(selected?.pointee.metadata, name)
  }

  /// Returns a tag of a stream. If the stream lacks the tag and the file has exactly one audio
  /// stream, returns the tag of the file. Returns nil if there is no such tag.
  func tag(_ name: String, of stream: UnsafeMutablePointer<AVStream>) -> String? {
    if let tag = metadata(stream.pointee.metadata, name) { return tag }
    guard streams(of: AVMEDIA_TYPE_AUDIO).count == 1 else { return nil }
    return metadata(context.pointee.metadata, name)
  }

  var name: String { io.source.name }

  var interrupt: InterruptFlag? { io.interrupt }
  var isInterrupted: Bool { interrupt?.isRaised == true }

  /// Whether the source consists of AC-3, E-AC-3, MP3 or ADTS frames without a container. In such a
  /// source, a packet can contain several frames if a frame header is damaged.
  var isBareStream: Bool { format == .bareDolby || format == .bareMPEG }

  /// Restores the source's position after direct reads from the source.
  func resume() { io.resume() }

  /// Selects the stream that `next` reads.
  func select(stream index: Int) {
    for stream in streams {
      let isSelected = Int(stream.pointee.index) == index
      stream.pointee.discard = isSelected ? AVDISCARD_DEFAULT : AVDISCARD_ALL
      if isSelected { selected = stream }
    }
  }

  /// Returns the next packet without taking it; nil at the end. Skips damaged places.
  ///
  /// - Throws: the errors of `next`.
  func peek() throws(MediaError) -> UnsafeMutablePointer<AVPacket>? {
    var packet = peeked == nil ? av_packet_alloc() : nil
    defer { av_packet_free(&packet) }
    while let reading = packet {
      switch try next(into: reading) {
      case .packet:
        peeked = packet
        packet = nil
      case .damaged: continue
      case .end: return nil
      }
    }
    return peeked
  }

  /// Reads the next packet of the selected stream into `packet`.
  ///
  /// - Throws: `.interrupted`, or the source's own error.
  func next(into packet: UnsafeMutablePointer<AVPacket>) throws(MediaError) -> Next {
    if peeked != nil {
      av_packet_move_ref(packet, peeked)
      av_packet_free(&peeked)
      return .packet
    }
    var result = av_read_frame(context, packet)
    while result >= 0, !isInterrupted {
      lastPacketPlace = max(lastPacketPlace, packet.pointee.pos)
      if packet.pointee.stream_index == selected?.pointee.index { return .packet }
      av_packet_unref(packet)
      result = av_read_frame(context, packet)
    }
    if isInterrupted { throw .interrupted }
    if let failure = io.failure { throw failure }
    if result == FF_ERROR_EOF { return resumeBehindDamagedPage() ? .damaged : .end }
    // Without progress, errors would repeat forever. End the stream after many of them.
    let place = context.pointee.pb.pointee.pos
    stalls = place == lastErrorPlace ? stalls + 1 : 0
    lastErrorPlace = place
    return stalls > Self.longestStall ? .end : .damaged
  }

  /// Moves to the last seekable position at or before `timestamp`, in units of the selected
  /// stream's time base. Returns false if no stream is selected or if seeking fails.
  func seek(timestamp: Int64) -> Bool {
    guard let index = selected?.pointee.index else { return false }
    lastPacketPlace = -1
    lastPageTried = -1
    return avformat_seek_file(context, index, .min, timestamp, timestamp, 0) >= 0
  }

  /// Continues at the next page after a damaged Ogg page. libavformat itself would report the end
  /// of the file instead. Returns false if there is no such page or if seeking fails.
  private func resumeBehindDamagedPage() -> Bool {
    guard format == .ogg else { return false }
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
      return MovieBoxes(io.source).isCutShort
        ? .missingIndex(path: name) : .unrecognised(path: name)
    }
    if code == FF_ERROR_DEMUXER_NOT_FOUND { return .unrecognised(path: name) }
    return .openFailed(path: name, reason: ffmpegText(code))
  }
}

extension MediaError {
  /// Whether an incomplete box at the end of the file may have caused the error.
  fileprivate var isOfContent: Bool {
    switch self {
    case .unrecognised, .openFailed: true
    default: false
    }
  }
}

/// Returns an entry of an FFmpeg dictionary; nil if the entry is missing or empty.
func metadata(_ dictionary: OpaquePointer?, _ key: String) -> String? {
  guard let entry = av_dict_get(dictionary, key, nil, 0) else { return nil }
  let text = String(cString: entry.pointee.value)
  return text.isEmpty ? nil : text
}

/// Returns FFmpeg's text for an error code.
func ffmpegText(_ code: Int32) -> String {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
    buffer.initialize(repeating: 0)
    av_strerror(code, buffer.baseAddress, buffer.count)
    return String(cString: buffer.baseAddress!)
  }
}
