// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

/// A TCP connection to a device.
///
/// ## Threading
/// Use a connection from one thread at a time.
final class StreamSocket {
  private let descriptor: Int32

  enum Received: Equatable {
    case bytes([UInt8])
    case nothing
    case closed
  }

  /// The maximum number of bytes per read.
  private static let pieceLength = 1 << 14

  /// Connects to a numeric address.
  ///
  /// - Throws: the system's error; ETIMEDOUT if the time limit is exceeded; EADDRNOTAVAIL if
  ///   `address` is not numeric.
  init(_ address: String, port: Int, timeoutMilliseconds: Int) throws(SystemError) {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(address, "\(port)", &hints, &list) == 0, let entry = list?.pointee else {
      throw SystemError(number: EADDRNOTAVAIL)
    }
    defer { freeaddrinfo(list) }
    let flags = Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK
    let descriptor = socket(entry.ai_family, flags, 0)
    guard descriptor >= 0 else { throw .latest }
    do throws(SystemError) {
      try Self.connect(descriptor, entry, timeoutMilliseconds)
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  private static func connect(
    _ descriptor: Int32, _ entry: addrinfo, _ timeoutMilliseconds: Int
  ) throws(SystemError) {
    guard Glibc.connect(descriptor, entry.ai_addr, entry.ai_addrlen) != 0 else { return }
    guard errno == EINPROGRESS || errno == EINTR else { throw .latest }
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&request, 1, Int32(timeoutMilliseconds)) > 0 else {
      throw SystemError(number: ETIMEDOUT)
    }
    var error: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 else { throw .latest }
    guard error == 0 else { throw SystemError(number: error) }
  }

  /// Waits for bytes and returns those that are available, at most 16384. Returns `.nothing` if
  /// none arrives in time.
  func read(timeoutMilliseconds: Int) -> Received {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&request, 1, Int32(timeoutMilliseconds)) > 0 else { return .nothing }
    var length = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: Self.pieceLength) { buffer, count in
      length = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      count = max(0, length)
    }
    if length < 0 { return errno == EAGAIN || errno == EINTR ? .nothing : .closed }
    return length == 0 ? .closed : .bytes(bytes)
  }

  /// Writes bytes; those that do not fit in the socket's send buffer are lost.
  func write(_ bytes: [UInt8]) {
    _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
  }
}
