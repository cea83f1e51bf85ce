// SPDX-License-Identifier: Apache-2.0

private import Glibc
private import System

/// A folder that files are written into, each of which takes its name only when it is complete.
///
/// The folder is held open: nothing that is put in its place later is written into, and names lead
/// nowhere else.
final class KeptFolder: Sendable {
  let path: String
  private let descriptor: Int32

  /// Makes the folder where there is none.
  init(path: String) throws(KeepingError) {
    let isMade = mkdir(path, 0o777) == 0 || errno == EEXIST
    let descriptor = isMade ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
    self.path = path
    self.descriptor = descriptor
  }

  /// Makes a folder in this one where there is none; a link is not followed.
  init(_ name: String, in parent: KeptFolder) throws(KeepingError) {
    path = parent.path + "/" + name
    let isMade = mkdirat(parent.descriptor, name, 0o777) == 0 || errno == EEXIST
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    let descriptor = isMade ? openat(parent.descriptor, name, flags) : -1
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
    self.descriptor = descriptor
  }

  deinit {
    // A child that is being started may have the descriptor for a moment longer, and the lock with
    // it.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// A name as the keeper makes them: nothing that leads elsewhere, or that a shell or a server
  /// would have to quote.
  static func isOwnName(_ name: String) -> Bool {
    let isPlain = name.utf8.allSatisfy { byte in
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x2E
    }
    return isPlain && !name.isEmpty && name.utf8.count <= 100 && !name.hasPrefix(".")
  }

  /// Keeps other processes out while this object lives; false where one is in already. File systems
  /// without locks let everybody in.
  func lock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK }

  /// What is in it, but for `.` and `..`.
  var names: [String] { SystemFile.names(inDescriptor: descriptor) ?? [] }

  /// Takes away what writers that were killed have left. Only for who holds the lock.
  func removeUnfinished() {
    for name in names where name.hasPrefix(".") && name.hasSuffix(Self.unfinished) { remove(name) }
  }

  func remove(_ name: String) { unlinkat(descriptor, name, 0) }

  /// Brings the names to the disk.
  func sync() { fsync(descriptor) }

  private static let unfinished = ".kept.part"

  /// Writes a file, to the disk, before it takes its name.
  func write(_ bytes: [UInt8], to name: String) throws(KeepingError) {
    let mark = String(UInt64.random(in: 0 ... .max), radix: 36)
    let temporary = ".\(name).\(mark)\(Self.unfinished)"
    let file = openat(descriptor, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw Self.failure(path + "/" + name, errno) }
    var reason = Self.write(bytes, to: file)
    // What cannot be brought to the disk by itself, such as a pipe of FUSE, is none of our
    // business.
    if reason == 0, fdatasync(file) != 0, errno != EINVAL, errno != EROFS { reason = errno }
    if close(file) != 0, reason == 0, errno != EINTR { reason = errno }
    if reason == 0, renameat(descriptor, temporary, descriptor, name) != 0 { reason = errno }
    guard reason != 0 else { return }
    remove(temporary)
    throw Self.failure(path + "/" + name, reason)
  }

  /// 0, or the reason why not all was written.
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

  /// Bytes of a regular file; nil where there is none.
  func size(of name: String) -> Int? {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
      status.st_mode & S_IFMT == S_IFREG
    else { return nil }
    return Int(status.st_size)
  }

  /// A regular file of no more than `limit` bytes; nil where there is none.
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
