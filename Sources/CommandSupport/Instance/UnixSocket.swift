// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Unix stream sockets in a folder whose path may have any length.
enum UnixSocket {
  /// Listens on a new, non-blocking socket in a folder. Only this user may connect. An existing
  /// file of that name is removed. Returns nil and sets `errno` on failure.
  static func listen(in folder: String, name: String) -> Int32? {
    withFolder(folder) { short in
      let path = short + "/" + name
      let descriptor = makeSocket(O_NONBLOCK)
      guard descriptor >= 0 else { return nil }
      unlink(path)
      let isBound = withAddress(path) { Glibc.bind(descriptor, $0, $1) } == 0
      // Other users cannot access the folder, so they cannot connect before the mode is set.
      guard isBound, chmod(path, 0o600) == 0, Glibc.listen(descriptor, 16) == 0 else {
        let number = errno
        close(descriptor)
        errno = number
        return nil
      }
      return descriptor
    }
  }

  /// Connects to a socket. Each operation on the socket waits at most `seconds`. Returns nil and
  /// sets `errno` on failure.
  static func connect(in folder: String, name: String, seconds: Int) -> Int32? {
    withFolder(folder) { short in
      let descriptor = makeSocket(0)
      guard descriptor >= 0 else { return nil }
      var time = timeval(tv_sec: seconds, tv_usec: 0)
      let size = socklen_t(MemoryLayout<timeval>.size)
      setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, size)
      guard withAddress(short + "/" + name, { Glibc.connect(descriptor, $0, $1) }) == 0 else {
        let number = errno
        close(descriptor)
        errno = number
        return nil
      }
      return descriptor
    }
  }

  private static func makeSocket(_ flags: Int32) -> Int32 {
    // On Linux, O_CLOEXEC and O_NONBLOCK have the values of SOCK_CLOEXEC and SOCK_NONBLOCK.
    Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(O_CLOEXEC) | flags, 0)
  }

  /// Calls `body` with a short path to a folder, because a socket address holds a path of at most
  /// 107 bytes.
  private static func withFolder(_ folder: String, _ body: (String) -> Int32?) -> Int32? {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    let result = body("/proc/self/fd/\(descriptor)")
    let number = errno
    close(descriptor)
    errno = number
    return result
  }

  private static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let hasRoom = withUnsafeMutableBytes(of: &address.sun_path) { room in
      guard bytes.count < room.count else { return false }
      room.copyBytes(from: bytes)
      return true
    }
    guard hasRoom else {
      errno = ENAMETOOLONG
      return -1
    }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
