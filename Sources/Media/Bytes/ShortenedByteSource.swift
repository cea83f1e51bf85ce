// SPDX-License-Identifier: Apache-2.0

/// The first `byteCount` bytes of another source.
final class ShortenedByteSource: ByteSource {
  let byteCount: Int64?
  private let source: any ByteSource
  private var position: Int64 = 0

  init(_ source: any ByteSource, length: Int64) {
    self.source = source
    byteCount = length
  }

  var name: String { source.name }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(MediaError) -> Int {
    let count = min(Int64(buffer.count), (byteCount ?? 0) - position)
    guard count > 0 else { return 0 }
    let read = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(count)]))
    position += Int64(read)
    return read
  }

  func seek(to offset: Int64) -> Bool {
    guard source.seek(to: offset) else { return false }
    position = offset
    return true
  }
}
