// SPDX-License-Identifier: Apache-2.0

private import Glibc
private import System

/// A folder in which files get their final names only when they are complete. The folder stays
/// open, so files go to the same folder even if it has been moved or replaced.
final class KeptFolder: Sendable {
  let path: String
  private let descriptor: Int32

  /// Opens a folder, and creates it if it does not exist. Its parent must exist.
  ///
  /// - Throws: `.cannotWrite` if the folder cannot be opened or created.
  init(path: String) throws(KeepingError) {
    let isMade = mkdir(path, 0o777) == 0 || errno == EEXIST
    let descriptor = isMade ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
    self.path = path
    self.descriptor = descriptor
  }

  /// Opens a subfolder, and creates it if it does not exist. Refuses a symbolic link.
  ///
  /// - Throws: `.cannotWrite` if the subfolder cannot be opened or created.
  init(_ name: String, in parent: KeptFolder) throws(KeepingError) {
    path = parent.path + "/" + name
    let isMade = mkdirat(parent.descriptor, name, 0o777) == 0 || errno == EEXIST
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    let descriptor = isMade ? openat(parent.descriptor, name, flags) : -1
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
    self.descriptor = descriptor
  }

  deinit {
    // Unlock explicitly: a child process that is just starting may still have the descriptor open,
    // which would keep the lock.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Whether a name consists of 1 to 100 lower-case ASCII letters, digits, hyphens and dots, and
  /// does not begin with a dot. Such a name always refers to an entry of the folder.
  static func isOwnName(_ name: String) -> Bool {
    let isPlain = name.utf8.allSatisfy { byte in
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x2E
    }
    return isPlain && !name.isEmpty && name.utf8.count <= 100 && !name.hasPrefix(".")
  }

  /// Locks the folder until this object is released. Returns false only if the folder is already
  /// locked; on file systems without locks, returns true.
  func lock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK }

  /// The names of the folder's entries, except `.` and `..`; empty if the folder cannot be read.
  var names: [String] { SystemFile.names(inDescriptor: descriptor) ?? [] }

  /// Removes temporary files that killed processes left behind. Call this method only while the
  /// folder of the presentation is locked.
  func removeUnfinished() {
    for name in names where name.hasPrefix(".") && name.hasSuffix(Self.unfinished) { remove(name) }
  }

  func remove(_ name: String) { unlinkat(descriptor, name, 0) }

  /// Flushes the directory to the disk, so that new and changed file names survive a power failure.
  func sync() { fsync(descriptor) }

  private static let unfinished = ".kept.part"

  /// Writes a file under a temporary name, flushes it to the disk and renames it to `name`.
  /// Replaces an existing file.
  ///
  /// - Throws: `.cannotWrite` if the file cannot be written.
  func write(_ bytes: [UInt8], to name: String) throws(KeepingError) {
    let mark = String(UInt64.random(in: 0 ... .max), radix: 36)
    let temporary = ".\(name).\(mark)\(Self.unfinished)"
    let file = openat(descriptor, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw Self.failure(path + "/" + name, errno) }
    var reason = Self.write(bytes, to: file)
    // Ignore EINVAL and EROFS: some file systems do not support synchronisation.
    if reason == 0, fdatasync(file) != 0, errno != EINVAL, errno != EROFS { reason = errno }
    if close(file) != 0, reason == 0, errno != EINTR { reason = errno }
    if reason == 0, renameat(descriptor, temporary, descriptor, name) != 0 { reason = errno }
    guard reason != 0 else { return }
    remove(temporary)
    throw Self.failure(path + "/" + name, reason)
  }

  /// Returns 0 if all bytes were written, otherwise an error number.
  private static func write(_ bytes: [UInt8], to file: Int32) -> Int32 {
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count < 0 ? errno : EIO }
      done += count
    }
    return 0
  }

  /// Returns the size of a regular file, in bytes; nil if there is no such file.
  func size(of name: String) -> Int? {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
      status.st_mode & S_IFMT == S_IFREG
    else { return nil }
    return Int(status.st_size)
  }

  /// Reads a regular file. Returns nil if it is missing, unreadable or larger than `limit` bytes.
  func read(_ name: String, limit: Int) -> [UInt8]? {
    let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var done = 0
    while done < bytes.count {
      let rest = bytes.count - done
      let count = bytes[done...].withUnsafeMutableBytes {
        Glibc.read(file, $0.baseAddress, rest)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      done += count
    }
    return bytes
  }

  private static func failure(_ path: String, _ reason: Int32) -> KeepingError {
    .cannotWrite(path: path, reason: String(cString: strerror(reason)))
  }
}
