// SPDX-License-Identifier: Apache-2.0

import CFFmpeg
import Glibc

/// Connects libavformat to a `ByteSource`.
final class IOContext {
  let source: any ByteSource
  let interrupt: InterruptFlag?
  private(set) var failure: MediaError?
  private(set) var context: UnsafeMutablePointer<AVIOContext>?
  private var offset: Int64 = 0

  private static let bufferSize = 32768

  init(source: any ByteSource, interrupt: InterruptFlag?) throws(MediaError) {
    self.source = source
    self.interrupt = interrupt
    guard source.byteCount == nil || source.seek(to: 0) else {
      throw .readFailed(path: source.name, reason: "cannot seek to the start")
    }
    let buffer = av_malloc(Self.bufferSize)?.assumingMemoryBound(to: UInt8.self)
    context = avio_alloc_context(
      buffer, Int32(Self.bufferSize), 0, Unmanaged.passUnretained(self).toOpaque(),
      { opaque, bytes, count in IOContext.from(opaque).read(bytes, count) },
      nil,
      source.byteCount == nil
        ? nil
        : { opaque, offset, whence in IOContext.from(opaque).seek(offset, whence) })
    guard context != nil else {
      av_free(buffer)
      throw .openFailed(path: source.name, reason: "out of memory")
    }
    context!.pointee.seekable = source.byteCount == nil ? 0 : AVIO_SEEKABLE_NORMAL
  }

  deinit {
    if context != nil { av_freep(&context!.pointee.buffer) }
    avio_context_free(&context)
  }

  /// Moves the source, if it can seek, back to the position that libavformat expects.
  func resume() {
    if source.byteCount != nil { _ = source.seek(to: offset) }
  }

  private static func from(_ opaque: UnsafeMutableRawPointer?) -> IOContext {
    Unmanaged<IOContext>.fromOpaque(opaque!).takeUnretainedValue()
  }

  private func read(_ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int32) -> Int32 {
    guard interrupt?.isRaised != true else { return FF_ERROR_EXIT }
    do {
      let read = try source.read(into: .init(start: bytes, count: Int(count)))
      offset += Int64(read)
      return read > 0 ? Int32(read) : FF_ERROR_EOF
    } catch {
      failure = error
      return ff_error(EIO)
    }
  }

  private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
    let size = source.byteCount ?? 0
    let target: Int64
    switch whence & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return size
    case SEEK_SET: target = offset
    case SEEK_CUR: target = self.offset.addingReportingOverflow(offset).partialValue
    case SEEK_END: target = size.addingReportingOverflow(offset).partialValue
    default: return Int64(ff_error(EINVAL))
    }
    guard target >= 0, source.seek(to: target) else { return Int64(ff_error(EINVAL)) }
    self.offset = target
    return target
  }
}
