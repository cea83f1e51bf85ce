// SPDX-License-Identifier: Apache-2.0

import CZlib
import Glibc

/// A whole text file, plain or gzip.
package enum TextFile {
  /// 256 MB of text: ten hours of a 285 Hz recording.
  static let maximumBytes = 256 << 20

  /// - Throws: `cannotReadMotion` with the reason.
  package static func read(_ path: String) throws(HeadTrackingError) -> [UInt8] {
    var status = stat()
    guard stat(path, &status) == 0 else { throw failure(path, errorText(errno)) }
    // A directory cannot be read, a FIFO or a terminal may wait for ever.
    guard status.st_mode & S_IFMT == S_IFREG else { throw failure(path, "it is not a file") }
    errno = 0
    guard let file = gzopen(path, "rb") else { throw failure(path, errorText(errno)) }
    defer { gzclose(file) }
    gzbuffer(file, 1 << 17)
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 17)
    while true {
      let count = Int(gzread(file, &part, UInt32(part.count)))
      guard count >= 0 else { throw failure(path, "its compression is damaged") }
      if count == 0 { break }
      bytes += part[..<count]
      guard bytes.count <= maximumBytes else { throw failure(path, "it is longer than 256 MB") }
    }
    var code: Int32 = 0
    _ = gzerror(file, &code)
    // Z_BUF_ERROR: the compressed data end too early.
    guard code == Z_OK || code == Z_STREAM_END else { throw failure(path, "it is cut off") }
    return bytes
  }

  private static func failure(_ path: String, _ reason: String) -> HeadTrackingError {
    .cannotReadMotion(path: path, reason: reason)
  }
}
