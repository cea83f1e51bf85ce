// SPDX-License-Identifier: Apache-2.0

import CZlib
import Glibc
import System

/// Reads text files, plain or compressed with gzip.
package enum TextFile {
  /// The largest uncompressed size of a file that is read part by part, in bytes.
  static let maximumBytes = 1 << 30
  /// The largest uncompressed size of a file that is read into memory completely, in bytes.
  static let maximumWholeBytes = 256 << 20

  /// Returns the uncompressed contents of a file.
  ///
  /// - Throws: `cannotReadMotion` if the file cannot be read or is damaged, or if its contents are
  ///   larger than 256 MiB.
  package static func read(_ path: String) throws(HeadTrackingError) -> [UInt8] {
    var bytes: [UInt8] = []
    try read(path, limit: maximumWholeBytes) { bytes += $0 }
    return bytes
  }

  /// Passes the uncompressed contents of a file to `take`, part by part. `limit` is the largest
  /// accepted uncompressed size, in bytes.
  static func read(
    _ path: String, limit: Int = maximumBytes, monitor: TaskMonitor = .none,
    _ take: (ArraySlice<UInt8>) throws(HeadTrackingError) -> Void
  ) throws(HeadTrackingError) {
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
    var total = 0
    var part = [UInt8](repeating: 0, count: 1 << 17)
    while true {
      let count = Int(gzread(file, &part, UInt32(part.count)))
      guard count >= 0 else {
        throw failure(path, "an I/O error occurred, or its compressed data are damaged")
      }
      if count == 0 { break }
      total += count
      guard total <= limit else {
        throw failure(path, "its text is larger than \(limit >> 20) MiB, which is the limit")
      }
      try take(part[..<count])
      let fraction = Double(gzoffset(file)) / Double(max(1, status.st_size))
      guard monitor.goesOn(fraction) else { throw .interrupted }
    }
    var code: Int32 = 0
    _ = gzerror(file, &code)
    // Z_BUF_ERROR means that the compressed data end too early.
    guard code == Z_OK || code == Z_STREAM_END else { throw failure(path, "it is truncated") }
  }

  private static func failure(_ path: String, _ reason: String) -> HeadTrackingError {
    .cannotReadMotion(path: path, reason: reason)
  }
}
