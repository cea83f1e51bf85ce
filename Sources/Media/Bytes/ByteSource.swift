// SPDX-License-Identifier: Apache-2.0

/// A source of bytes for libavformat, such as a file or downloaded data.
///
/// ## Threading
/// A source is used by one thread at a time.
public protocol ByteSource: AnyObject {
  /// The name for messages. A file extension in the name may help to identify the format.
  var name: String { get }
  /// The length in bytes; nil if the length is unknown or the source cannot seek.
  var byteCount: Int64? { get }
  /// Reads at most `buffer.count` bytes and returns the number of bytes read, which is 0 at the
  /// end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(MediaError) -> Int
  /// Moves to a byte offset from the start. Returns false if the source cannot move there.
  func seek(to offset: Int64) -> Bool
}

extension ByteSource {
  /// Reads exactly `count` bytes at `offset`. Returns nil if seeking or reading fails, or if fewer
  /// bytes are available. The position of the source is undefined afterwards.
  func bytes(at offset: Int64, count: Int) -> [UInt8]? {
    guard count >= 0, offset >= 0, seek(to: offset) else { return nil }
    var filled = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialised in
      while filled < count {
        let rest = UnsafeMutableRawBufferPointer(
          rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
        guard let read = try? self.read(into: rest), read > 0 else { break }
        filled += read
      }
      initialised = filled
    }
    return filled == count ? bytes : nil
  }
}
