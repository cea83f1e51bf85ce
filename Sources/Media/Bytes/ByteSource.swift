// SPDX-License-Identifier: Apache-2.0

/// Supplies bytes to libavformat: a file, or data that a fetcher has downloaded.
///
/// ## Threading
/// Used by one thread at a time, the one that uses the reader.
public protocol ByteSource: AnyObject {
  /// The name for messages. Its extension may help to identify the format.
  var name: String { get }
  /// The length in bytes; nil if it is unknown or the source cannot seek.
  var byteCount: Int64? { get }
  /// Reads at most `buffer.count` bytes; returns 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(MediaError) -> Int
  /// Moves to a byte offset from the start; returns false if that fails.
  func seek(to offset: Int64) -> Bool
}

extension ByteSource {
  /// Reads exactly `count` bytes at `offset`; returns nil if they are not all available. The
  /// position afterwards is undefined.
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
