// SPDX-License-Identifier: Apache-2.0

/// A source of bytes for libavformat.
///
/// ## Threading
/// Use a source from one thread at a time.
public protocol ByteSource: AnyObject {
  /// The name for messages. Its file extension may help to identify the format.
  var name: String { get }
  /// The length in bytes; nil if the length is unknown or seeking is impossible.
  var byteCount: Int64? { get }
  /// Reads at most `buffer.count` bytes. Returns the number of bytes read; 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(MediaError) -> Int
  /// Moves to a byte offset from the start. Returns false on failure.
  func seek(to offset: Int64) -> Bool
}

extension ByteSource {
  /// Reads `count` bytes at `offset`; nil if they cannot be read. The position of the source is
  /// undefined afterwards.
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
