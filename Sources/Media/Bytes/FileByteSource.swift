// SPDX-License-Identifier: Apache-2.0

import CFFmpeg
import Glibc

/// Reads a regular file.
///
/// The kind of file is checked before opening, because opening a FIFO can block and opening a
/// device can disturb it.
public final class FileByteSource: ByteSource {
  public let name: String
  public let byteCount: Int64?
  private let descriptor: Int32

  /// Opens the file at `path`.
  ///
  /// - Throws: `MediaError` if the file cannot be opened, is empty or is not a regular file.
  public init(path: String) throws(MediaError) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw Self.error(errno, path: path) }
    try Self.requireRegular(status, path: path)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw Self.error(errno, path: path) }
    do throws(MediaError) {
      // The path may name another file by now.
      guard fstat(descriptor, &status) == 0 else { throw Self.error(errno, path: path) }
      try Self.requireRegular(status, path: path)
      guard status.st_size > 0 else { throw MediaError.emptyFile(path: path) }
    } catch {
      close(descriptor)
      throw error
    }
    name = path
    byteCount = Int64(status.st_size)
    self.descriptor = descriptor
    _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
  }

  deinit { close(descriptor) }

  public func read(into buffer: UnsafeMutableRawBufferPointer) throws(MediaError) -> Int {
    while true {
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      guard errno == EINTR else {
        throw .readFailed(path: name, reason: systemText(errno))
      }
    }
  }

  public func seek(to offset: Int64) -> Bool {
    lseek(descriptor, off_t(offset), SEEK_SET) == off_t(offset)
  }

  private static func requireRegular(_ status: stat, path: String) throws(MediaError) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: return
    case S_IFDIR: throw .isDirectory(path: path)
    case S_IFIFO: throw .notRegularFile(path: path, kind: "a FIFO")
    case S_IFSOCK: throw .notRegularFile(path: path, kind: "a socket")
    default: throw .notRegularFile(path: path, kind: "a device")
    }
  }

  private static func error(_ number: Int32, path: String) -> MediaError {
    switch number {
    case ENOENT, ENOTDIR: .notFound(path: path)
    case EACCES, EPERM: .permissionDenied(path: path)
    default: .openFailed(path: path, reason: systemText(number))
    }
  }
}

/// Returns the text for an `errno` value, with its first letter in lower case.
func systemText(_ number: Int32) -> String {
  let text = ffmpegText(ff_error(number))
  return text.prefix(1).lowercased() + text.dropFirst()
}
