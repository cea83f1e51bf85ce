// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

/// An output file that receives its name only when it is complete. A device or FIFO is written
/// directly.
final class AtomicOutput {
  let isSeekable: Bool
  private let path: String
  /// The path of the temporary file; nil for a device or FIFO.
  private let temporary: String?
  /// The path to which `temporary` is renamed.
  private let target: String
  private var descriptor: Int32

  /// Creates the temporary file, or opens a device or FIFO.
  ///
  /// - Throws: `MediaError.isDirectory` if `path` is a directory; `.writeFailed` if the file cannot
  ///   be opened or created.
  init(path: String) throws(MediaError) {
    self.path = path
    var status = stat()
    let exists = stat(path, &status) == 0
    let kind = status.st_mode & S_IFMT
    if exists, kind == S_IFDIR { throw .isDirectory(path: path) }
    isSeekable = !exists || kind == S_IFREG
    guard isSeekable else {
      temporary = nil
      target = path
      descriptor = open(path, O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw .writeFailed(path: path, reason: systemText(errno)) }
      return
    }
    // Replace the target of a symbolic link rather than the link, if the target exists.
    let target = exists ? Self.resolved(path) : path
    let name = Self.temporaryName(beside: target)
    temporary = name
    self.target = target
    UnfinishedFiles.add(name)
    descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      UnfinishedFiles.forget(name)
      throw .writeFailed(path: path, reason: systemText(errno))
    }
    if exists { _ = fchmod(descriptor, status.st_mode & 0o7777) }
  }

  deinit { abandon() }

  func append(_ bytes: UnsafeRawBufferPointer) throws(MediaError) {
    guard write(bytes, { Glibc.write(self.descriptor, $0.baseAddress, $0.count) }) else {
      throw failure()
    }
  }

  func append(_ bytes: [UInt8]) throws(MediaError) {
    let isWritten = bytes.withUnsafeBytes { bytes in
      write(bytes) { Glibc.write(self.descriptor, $0.baseAddress, $0.count) }
    }
    guard isWritten else { throw failure() }
  }

  /// Overwrites the start of the file with `bytes`. The file must be seekable.
  func overwriteStart(_ bytes: [UInt8]) throws(MediaError) {
    let isWritten = bytes.withUnsafeBytes { bytes in
      write(bytes) { rest in
        pwrite(self.descriptor, rest.baseAddress, rest.count, off_t(bytes.count - rest.count))
      }
    }
    guard isWritten else { throw failure() }
  }

  func commit() throws(MediaError) {
    guard descriptor >= 0 else { return }
    let open = descriptor
    descriptor = -1
    // Network file systems may report a full disk only when the file is closed.
    guard Glibc.close(open) == 0 || errno == EINTR else { throw failure() }
    guard let temporary else { return }
    guard rename(temporary, target) == 0 else { throw failure() }
    UnfinishedFiles.forget(temporary)
  }

  func abandon() {
    guard descriptor >= 0 else { return }
    Glibc.close(descriptor)
    descriptor = -1
    if let temporary {
      unlink(temporary)
      UnfinishedFiles.forget(temporary)
    }
  }

  /// Writes all of `bytes` by repeated calls to `step`. Repeats a call that a signal interrupted;
  /// returns false if a call fails for another reason.
  private func write(
    _ bytes: UnsafeRawBufferPointer, _ step: (UnsafeRawBufferPointer) -> Int
  ) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = step(rest)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if count == 0 || errno != EINTR {
        return false
      }
    }
    return true
  }

  private func failure() -> MediaError {
    let reason = systemText(errno)
    abandon()
    if let temporary { unlink(temporary) }
    return .writeFailed(path: path, reason: reason)
  }

  private static func resolved(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  private static func temporaryName(beside path: String) -> String {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let folder = parts.dropLast().map { $0 + "/" }.joined()
    let mark = String(UInt64.random(in: 0 ... .max), radix: 36)
    return "\(folder).\((parts.last ?? "").prefix(100)).\(mark).part"
  }
}
