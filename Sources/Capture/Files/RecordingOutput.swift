// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

/// The open file to which the bytes of a recording are written.
final class RecordingOutput {
  let path: String
  /// The size of the file in bytes; the bytes of a failed append do not count.
  private(set) var size: Int64 = 0
  /// Whether the file contains sound. The owner sets this, and errors report it.
  var hasSound = false
  /// Whether long runs of zeros become holes, which take no space on the disk.
  var leavesHoles = false
  private let descriptor: Int32
  private var isOpen = true
  /// The name of the new file and the temporary name of the replaced file; nil if there is nothing
  /// to restore.
  private var replaced: (name: String, aside: String)?

  /// Creates the file under its final name. If `overwriting` is true, an existing regular file
  /// first gets a temporary name.
  ///
  /// - Throws: `.exists`, `.isDirectory`, `.notRegularFile`, `.diskFull` or `.cannotCreate`.
  init(path: String, overwriting: Bool) throws(RecordingError) {
    self.path = path
    var descriptor = Self.create(path, mode: 0o666)
    if descriptor < 0, errno == EEXIST {
      var status = stat()
      // `stat` fails for a symbolic link to a missing file.
      let kind = stat(path, &status) == 0 ? status.st_mode & S_IFMT : S_IFLNK
      if kind == S_IFDIR { throw .isDirectory(path: path) }
      if kind == S_IFREG, !overwriting { throw .exists(path: path) }
      guard kind == S_IFREG, let name = SystemFile.resolved(path) else {
        throw .notRegularFile(path: path)
      }
      let aside = name + "." + Self.mark() + ".old"
      guard rename(name, aside) == 0 else { throw Self.creationError(path) }
      descriptor = Self.create(name, mode: status.st_mode & 0o7777)
      if descriptor < 0 {
        let error = Self.creationError(path)
        rename(aside, name)
        throw error
      }
      replaced = (name, aside)
    }
    guard descriptor >= 0 else { throw Self.creationError(path) }
    self.descriptor = descriptor
  }

  deinit { close() }

  /// Appends all bytes, or none if writing fails.
  func append(_ bytes: [UInt8]) throws(RecordingError) {
    guard !bytes.isEmpty else { return }
    guard write(bytes, at: size) else {
      let error = failure()
      // Free the space of the incomplete append.
      ftruncate(descriptor, off_t(size))
      throw error
    }
    size += Int64(bytes.count)
  }

  func patch(_ bytes: [UInt8], at offset: Int64) throws(RecordingError) {
    guard write(bytes, at: offset) else { throw failure() }
  }

  /// Reduces the size of the file to `end` bytes, if possible.
  func cut(to end: Int64) {
    guard end < size, ftruncate(descriptor, off_t(end)) == 0 else { return }
    size = end
  }

  /// Waits for the disk to store all bytes.
  func synchronise() throws(RecordingError) {
    // Some file systems do not support `fsync` and report EINVAL or ENOTSUP.
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else { throw failure() }
  }

  /// Removes the replaced file. Call this when the new file contains sound.
  func discardReplaced() {
    if let replaced { unlink(replaced.aside) }
    replaced = nil
  }

  /// Closes the file. A replaced file that has not been discarded gets its name back, and the new
  /// file is lost.
  func close() {
    guard isOpen else { return }
    isOpen = false
    Glibc.close(descriptor)
    if let replaced { rename(replaced.aside, replaced.name) }
    replaced = nil
  }

  /// Closes and removes the file, unless it is already closed. A replaced file that has not been
  /// discarded gets its name back.
  func remove() {
    if isOpen { unlink(replaced?.name ?? path) }
    close()
  }

  /// The number of bytes that are free for this user; nil if it is unknown, or after `close`.
  var freeBytes: Int64? {
    var status = statvfs()
    guard isOpen, fstatvfs(descriptor, &status) == 0 else { return nil }
    return Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
  }

  /// Writes all bytes. Returns false, with `errno` set, if `pwrite` fails.
  private func write(_ bytes: [UInt8], at offset: Int64) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        var rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
        if leavesHoles {
          rest = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.holeLength))
          if rest.count == Self.holeLength, rest[0] == 0,
            memcmp(rest.baseAddress!, rest.baseAddress! + 1, rest.count - 1) == 0
          {
            done += rest.count
            continue
          }
        }
        let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + done)
        if count > 0 {
          done += count
        } else if count == 0 || errno != EINTR {
          return false
        }
      }
      return true
    }
  }

  private static let holeLength = 65536

  private func failure() -> RecordingError {
    let error = SystemError.latest
    let number = errno
    var status = stat()
    // A deleted file has no links.
    let remains = hasSound && fstat(descriptor, &status) == 0 && status.st_nlink > 0
    return switch number {
    case ENOSPC, EDQUOT: .diskFull(path: path, hasSound: remains)
    case EFBIG: .fileTooLarge(path: path, hasSound: remains)
    default: .writeFailed(path: path, reason: error.description)
    }
  }

  private static func creationError(_ path: String) -> RecordingError {
    switch errno {
    case ENOSPC, EDQUOT: .diskFull(path: path, hasSound: false)
    default: .cannotCreate(path: path, reason: SystemError.latest.description)
    }
  }

  private static func create(_ path: String, mode: mode_t) -> Int32 {
    open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
  }

  private static func mark() -> String {
    let text = String(UInt64.random(in: 0 ... .max), radix: 36)
    return String(repeating: "0", count: max(0, 8 - text.count)) + text.suffix(8)
  }
}
