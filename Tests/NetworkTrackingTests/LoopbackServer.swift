// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import System
import TestSupport

/// A TCP server on the loopback interface that sends bytes to its clients.
final class LoopbackServer: Sendable {
  struct Failure: Error {}

  let port: Int
  private let worker = Worker()
  private let state = Mutex(State())

  private struct State {
    var listener: Int32 = -1
    var client: Int32 = -1
    var connections = 0
  }

  /// - Parameter port: the port; 0 for any free one.
  init(port: Int = 0) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var on: Int32 = 1
    setsockopt(
      listener, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    address.sin_port = in_port_t(port).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 4) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard isBound else { throw Failure() }
    self.port = Int(address.sin_port.byteSwapped)
    state.withLock { $0.listener = listener }
    let worker = worker
    worker.start { [weak self] in
      while !worker.isStopped {
        var request = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, 20) > 0 else { continue }
        let client = accept(listener, nil, nil)
        guard client >= 0, let self else { continue }
        self.state.withLock { state in
          if state.client >= 0 { close(state.client) }
          state.client = client
          state.connections += 1
        }
      }
    }
  }

  deinit {
    worker.stop()
    state.withLock { state in
      close(state.listener)
      if state.client >= 0 { close(state.client) }
    }
  }

  var connections: Int { state.withLock { $0.connections } }

  /// Sends bytes to the latest client; false if there is none.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    state.withLock { state in
      guard state.client >= 0 else { return false }
      return Glibc.send(state.client, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }
  }

  /// Closes the connection to the latest client.
  func hangUp() {
    state.withLock { state in
      if state.client >= 0 { close(state.client) }
      state.client = -1
    }
  }
}
