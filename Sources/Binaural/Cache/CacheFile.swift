// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

/// Reads, lists and atomically replaces cache files.
enum CacheFile {
  static let temporaryPrefix = ".new-"

  struct Found {
    var name: String
    var bytes: Int
    /// The modification time, which is the time of the last use: `seconds` since 1970, plus
    /// `nanoseconds`.
    var seconds: Int
    var nanoseconds: Int
  }

  /// Returns the bytes of a file; nil if it is empty, is larger than `limit`, is not a regular file
  /// or cannot be read.
  static func read(_ path: String, atMost limit: Int) -> [UInt8]? {
    // If the path is a named pipe, `open` must not wait for a writer.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      (1...limit).contains(Int(status.st_size))
    else { return nil }
    let size = Int(status.st_size)
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { target, count in
      while count < size {
        let got = Glibc.read(file, target.baseAddress! + count, size - count)
        if got < 0 && errno == EINTR { continue }
        if got <= 0 { break }
        count += got
      }
    }
    return bytes.count == size ? bytes : nil
  }

  /// Marks a file as just used: sets its modification time to the current time.
  static func touch(_ path: String) {
    utimensat(AT_FDCWD, path, nil, 0)
  }

  /// Creates the missing folders of an absolute path. Only the user has access to the new folders.
  /// Ignores errors.
  static func makeFolder(_ path: String) {
    var parent = ""
    for part in path.split(separator: "/") {
      parent += "/\(part)"
      mkdir(parent, 0o700)
    }
  }

  /// Writes a temporary file and renames it to `path`. Returns false on failure.
  ///
  /// The file is not synced to disk. A power failure can damage it, but then its checksum is wrong,
  /// and the entry counts as missing.
  static func replace(_ path: String, in folder: String, with bytes: [UInt8]) -> Bool {
    var template = Array("\(folder)/\(temporaryPrefix)XXXXXX".utf8CString)
    let file = mkstemp(&template)
    guard file >= 0 else { return false }
    _ = fcntl(file, F_SETFD, FD_CLOEXEC)
    let temporary = String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
    UnfinishedFiles.add(temporary)
    defer { UnfinishedFiles.forget(temporary) }
    let isWritten = withoutFileSizeSignal { write(bytes, to: file) }
    let isClosed = close(file) == 0
    if isWritten, isClosed, rename(template, path) == 0 { return true }
    unlink(template)
    return false
  }

  private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let count = Glibc.write(file, bytes.baseAddress! + done, bytes.count - done)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { return false }
        done += count
      }
      return true
    }
  }

  /// Runs `body` with the signal SIGXFSZ blocked. A write beyond the process's file size limit then
  /// fails, but does not end the process.
  private static func withoutFileSizeSignal(_ body: () -> Bool) -> Bool {
    var (set, before, pending) = (sigset_t(), sigset_t(), sigset_t())
    sigemptyset(&set)
    sigaddset(&set, SIGXFSZ)
    sigpending(&pending)
    guard sigismember(&pending, SIGXFSZ) == 0 else { return body() }
    pthread_sigmask(SIG_BLOCK, &set, &before)
    let result = body()
    var none = timespec()
    while sigtimedwait(&set, nil, &none) < 0 && errno == EINTR {}
    pthread_sigmask(SIG_SETMASK, &before, nil)
    return result
  }

  /// Returns the regular files in a folder; empty if the folder cannot be read.
  static func list(_ folder: String) -> [Found] {
    var found: [Found] = []
    for name in SystemFile.names(in: folder) ?? [] {
      var status = stat()
      guard lstat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        continue
      }
      found.append(
        Found(
          name: name, bytes: Int(status.st_size), seconds: status.st_mtim.tv_sec,
          nanoseconds: status.st_mtim.tv_nsec))
    }
    return found
  }
}
