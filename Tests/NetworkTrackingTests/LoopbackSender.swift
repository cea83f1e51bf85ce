// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Sends datagrams to a port of the loopback interface.
final class LoopbackSender {
  /// A port that was free.
  let port: Int
  private let descriptor: Int32
  private var address = sockaddr_in()

  init() throws {
    // A server that is gone leaves a free port.
    port = try LoopbackServer().port
    descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    address.sin_port = in_port_t(port).bigEndian
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8]) {
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = sendto(descriptor, bytes, bytes.count, 0, $0, size)
      }
    }
  }
}
