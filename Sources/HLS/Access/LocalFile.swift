// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An open file of a downloaded presentation.
public final class LocalFile: Sendable {
  public enum Problem: Error, Sendable, Equatable {
    case refused(AccessRefusal)
    /// The file does not exist or cannot be read. The text is the system's error text.
    case unreadable(String)
  }

  /// The absolute path without symbolic links.
  public let path: String
  /// The size in bytes.
  public let size: Int
  private let descriptor: Int32

  /// Opens a file and then checks the access rules for its real path. A link that replaces the file
  /// later has no effect.
  ///
  /// - Parameters:
  ///   - path: an absolute path.
  ///   - address: the address to name in the refusal.
  /// - Throws: `.unreadable` if the file cannot be opened. `.refused` if the rules forbid it or it
  ///   is not a regular file.
  public init(path: String, address: String, rules: AccessRules) throws(Problem) {
    // Do not block on a pipe without a writer.
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw .unreadable(String(cString: strerror(errno))) }
    self.descriptor = descriptor
    self.path = Self.path(of: descriptor) ?? path
    var status = stat()
    let isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    size = Int(status.st_size)
    guard isRegular else { throw .refused(AccessRefusal(address, "it is not a regular file")) }
    do throws(AccessRefusal) { try rules.checkFile(self.path, address: address) } catch {
      throw .refused(error)
    }
  }

  deinit { close(descriptor) }

  private static func path(of descriptor: Int32) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { readlink("/proc/self/fd/\(descriptor)", $0, bytes.count) } ?? -1
    }
    return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
  }

  /// Reads a range of bytes. Returns fewer bytes if the range extends beyond the end of the file.
  ///
  /// - Throws: `.unreadable` if the file cannot be read.
  public func read(_ range: ByteRange) throws(Problem) -> [UInt8] {
    let count = max(0, min(range.length, size - range.offset))
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = bytes[done...].withUnsafeMutableBytes { buffer in
        buffer.baseAddress.map { pread(descriptor, $0, buffer.count, range.offset + done) } ?? 0
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw .unreadable(String(cString: strerror(errno))) }
      if got == 0 { break }
      done += got
    }
    bytes.removeLast(count - done)
    return bytes
  }
}
