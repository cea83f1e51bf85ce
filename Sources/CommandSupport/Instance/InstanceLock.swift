// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A lock that only one process can hold at a time. It is released when this object is
/// deinitialised or the process ends. The lock file contains the process ID.
package final class InstanceLock {
  private let path: String
  private let descriptor: Int32

  /// Why the lock could not be taken.
  package enum Failure: Error, Equatable {
    /// Another process holds the lock; `pid` is nil if unknown.
    case held(pid: Int32?)
    /// The lock file cannot be used, for this reason.
    case system(String)
  }

  /// Takes the lock, without waiting for a process that holds it.
  package init(path: String) throws(Failure) {
    self.path = path
    while true {
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw .system(String(cString: strerror(errno))) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        let isHeld = errno == EWOULDBLOCK
        let reason = String(cString: strerror(errno))
        close(descriptor)
        throw isHeld ? .held(pid: Self.pid(in: path)) : .system(reason)
      }
      // If another process removed the file before this process locked it, try again.
      var (own, named) = (stat(), stat())
      if fstat(descriptor, &own) == 0, stat(path, &named) == 0, own.st_ino == named.st_ino {
        self.descriptor = descriptor
        break
      }
      close(descriptor)
    }
    ftruncate(descriptor, 0)
    write("\(getpid())\n", to: descriptor)
  }

  /// Removes the file and releases the lock.
  deinit {
    unlink(path)
    close(descriptor)
  }

  private static func pid(in path: String) -> Int32? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = max(0, read(descriptor, &bytes, bytes.count))
    return Int32(String(decoding: bytes[..<count].prefix { $0 != 10 }, as: UTF8.self))
  }
}
