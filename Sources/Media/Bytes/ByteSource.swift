// SPDX-License-Identifier: Apache-2.0

/// Bytes that libavformat is fed with: a file, or what a fetcher has downloaded.
///
/// ## Threading
/// Used by one thread at a time, the one that uses the reader.
public protocol ByteSource: AnyObject {
  /// What to call it in messages; its extension may help to tell the format.
  var name: String { get }
  /// The length in bytes, or nil where it is not known or the source cannot seek.
  var byteCount: Int64? { get }
  /// Reads at most `buffer.count` bytes; 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(MediaError) -> Int
  /// Moves to a byte offset from the start; false where that cannot be done.
  func seek(to offset: Int64) -> Bool
}

extension ByteSource {
  /// Reads exactly `count` bytes at `offset`, or nil when they are not all there. The position
  /// afterwards is undefined.
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
