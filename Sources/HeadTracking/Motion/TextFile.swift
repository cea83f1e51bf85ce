// SPDX-License-Identifier: Apache-2.0

import CZlib
import Glibc

/// Reads plain or gzip-compressed text files into memory.
package enum TextFile {
  /// Largest size of the uncompressed text, in bytes: 256 MB.
  static let maximumBytes = 256 << 20

  /// Returns the uncompressed contents of a file.
  ///
  /// - Throws: `cannotReadMotion`, with the reason, if the file cannot be read, is damaged, or is
  ///   too large.
  package static func read(_ path: String) throws(HeadTrackingError) -> [UInt8] {
    var status = stat()
    guard stat(path, &status) == 0 else { throw failure(path, errorText(errno)) }
    // A directory cannot be read, and a FIFO or terminal may block forever.
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw failure(path, "it is not a regular file")
    }
    errno = 0
    guard let file = gzopen(path, "rb") else { throw failure(path, errorText(errno)) }
    defer { gzclose(file) }
    gzbuffer(file, 1 << 17)
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 17)
    while true {
      let count = Int(gzread(file, &part, UInt32(part.count)))
      guard count >= 0 else {
        throw failure(path, "it cannot be read, or its compressed data are damaged")
      }
      if count == 0 { break }
      bytes += part[..<count]
      guard bytes.count <= maximumBytes else {
        throw failure(path, "its text is larger than 256 MB")
      }
    }
    var code: Int32 = 0
    _ = gzerror(file, &code)
    // Z_BUF_ERROR means that the compressed data end too early.
    guard code == Z_OK || code == Z_STREAM_END else { throw failure(path, "it is truncated") }
    return bytes
  }

  private static func failure(_ path: String, _ reason: String) -> HeadTrackingError {
    .cannotReadMotion(path: path, reason: reason)
  }
}
