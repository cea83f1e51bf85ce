// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A UDP port to listen on. Belongs to one thread.
final class DatagramSocket {
  private let descriptor: Int32

  /// - Throws: `cannotListen`.
  init(port: Int) throws(NetworkTrackerError) {
    descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | O_CLOEXEC, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw .cannotListen(port: port, reason: reason)
    }
  }

  deinit { close(descriptor) }

  /// The datagrams that came within the time, oldest first.
  func datagrams(timeoutMilliseconds: Int) -> [[UInt8]] {
    var found: [[UInt8]] = []
    var wait = Int32(timeoutMilliseconds)
    var buffer = [UInt8](repeating: 0, count: 2048)
    while found.count < 256 {
      var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&request, 1, wait) > 0 else { break }
      wait = 0
      let length = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      guard length >= 0 else { break }
      found.append(Array(buffer.prefix(length)))
    }
    return found
  }
}
