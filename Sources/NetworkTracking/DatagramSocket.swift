// SPDX-License-Identifier: Apache-2.0

import Glibc

/// UDP sockets that receive datagrams on one port.
///
/// ## Threading
/// Use an instance on one thread only.
final class DatagramSocket {
  private var descriptors: [Int32] = []

  /// Opens the port.
  ///
  /// - Throws: `notOurAddress` if this computer does not have the address; `cannotListen` if the
  ///   port cannot be opened for another reason.
  init(_ address: ListeningAddress, port: Int) throws(NetworkTrackerError) {
    let place = address.text(port: port)
    for (index, numeric) in address.numeric.enumerated() {
      do throws(SocketError) { descriptors.append(try Self.open(numeric, port)) } catch {
        // The second address is an IPv6 address, and IPv6 may be unavailable.
        if index > 0, [EAFNOSUPPORT, EADDRNOTAVAIL].contains(error.number) { continue }
        close()
        throw error.number == EADDRNOTAVAIL
          ? .notOurAddress(place) : .cannotListen(place, reason: error.reason)
      }
    }
  }

  private struct SocketError: Error {
    let number: Int32
    var reason: String { String(cString: strerror(number)) }
  }

  private static func open(_ numeric: String, _ port: Int) throws(SocketError) -> Int32 {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(numeric, "\(port)", &hints, &list) == 0, let entry = list?.pointee else {
      throw SocketError(number: EADDRNOTAVAIL)
    }
    defer { freeaddrinfo(list) }
    let descriptor = socket(entry.ai_family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SocketError(number: errno) }
    if entry.ai_family == AF_INET6 {
      // A separate socket receives IPv4 for `loopback` and `any`.
      var on: Int32 = 1
      setsockopt(
        descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on,
        socklen_t(MemoryLayout<Int32>.size))
    }
    guard bind(descriptor, entry.ai_addr, entry.ai_addrlen) == 0 else {
      let number = errno
      Glibc.close(descriptor)
      throw SocketError(number: number)
    }
    return descriptor
  }

  private func close() {
    for descriptor in descriptors { Glibc.close(descriptor) }
    descriptors = []
  }

  deinit { close() }

  /// Waits for datagrams and returns those that have arrived, at most 256. Returns an empty array
  /// if none arrives in time.
  func datagrams(timeoutMilliseconds: Int) -> [[UInt8]] {
    var requests = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    guard poll(&requests, nfds_t(requests.count), Int32(timeoutMilliseconds)) > 0 else { return [] }
    var found: [[UInt8]] = []
    var buffer = [UInt8](repeating: 0, count: 2048)
    for request in requests where request.revents != 0 {
      while found.count < 256 {
        let length = recv(request.fd, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard length >= 0 else { break }
        found.append(Array(buffer.prefix(length)))
      }
    }
    return found
  }
}
