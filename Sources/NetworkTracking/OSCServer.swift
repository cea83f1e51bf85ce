// SPDX-License-Identifier: Apache-2.0

import CLiblo
import Glibc

/// Receives OSC messages over UDP.
///
/// ## Threading
/// Use it on one thread only.
final class OSCServer {
  private let server: lo_server
  private let inbox: UnsafeMutablePointer<[OSCMessage]>

  /// Opens the port.
  ///
  /// - Throws: `cannotListen` if the port cannot be opened.
  init(port: Int) throws(NetworkTrackerError) {
    errno = 0
    guard let server = lo_server_new_with_proto("\(port)", LO_UDP, nil) else {
      let reason = errno == 0 ? "it is in use" : String(cString: strerror(errno))
      throw .cannotListen(port: port, reason: reason)
    }
    self.server = server
    inbox = .allocate(capacity: 1)
    inbox.initialize(to: [])
    // Bundle times are ignored: the newest pose is needed at once.
    lo_server_enable_queue(server, 0, 1)
    lo_server_add_method(server, nil, nil, Self.handler, inbox)
  }

  deinit {
    lo_server_free(server)
    inbox.deinitialize(count: 1)
    inbox.deallocate()
  }

  /// Waits for a message, at most for the timeout. Returns all messages that have arrived, oldest
  /// first, but stops reading once there are 256. Returns an empty array if no message arrives.
  func messages(timeoutMilliseconds: Int) -> [OSCMessage] {
    inbox.pointee.removeAll(keepingCapacity: true)
    var wait = timeoutMilliseconds
    while inbox.pointee.count < 256, lo_server_recv_noblock(server, Int32(wait)) > 0 { wait = 0 }
    return inbox.pointee
  }

  private static let handler: lo_method_handler = { path, types, arguments, count, _, inbox in
    guard let path, let types, let inbox, count <= 16 else { return 0 }
    let numbers = (0..<Int(count)).map { index in
      arguments?[index].map { liblo_number(types[index], $0) } ?? .nan
    }
    let message = OSCMessage(String(cString: path), numbers)
    inbox.assumingMemoryBound(to: [OSCMessage].self).pointee.append(message)
    return 0
  }
}

/// Sends OSC messages over UDP.
///
/// ## Threading
/// Use it on one thread only.
public final class OSCSender {
  private let target: lo_address

  /// Resolves the target.
  ///
  /// - Parameter url: `osc://HOST:PORT` or `osc.udp://HOST:PORT`.
  /// - Throws: `badTarget` if the URL is malformed, or `unknownHost` if the host has no known
  ///   address.
  public init(_ url: String) throws(NetworkTrackerError) {
    let scheme = ["osc://", "osc.udp://"].first { url.hasPrefix($0) }
    var rest = scheme.map { url.dropFirst($0.count) } ?? ""
    if rest.last == "/" { rest.removeLast() }
    guard let colon = rest.lastIndex(of: ":"), let port = Int(rest[colon...].dropFirst()),
      (1...65535).contains(port), let host = Self.host(rest[..<colon])
    else { throw .badTarget(url) }
    guard Self.isKnown(host) else { throw .unknownHost(host) }
    guard let target = lo_address_new_with_proto(LO_UDP, host, "\(port)") else {
      throw .badTarget(url)
    }
    self.target = target
  }

  /// Returns the host that a text names: a host name, an IPv4 address, or an IPv6 address, which is
  /// written in brackets and returned without them. Returns nil if the text is malformed.
  private static func host(_ text: Substring) -> String? {
    if text.first == "[", text.last == "]" { return String(text.dropFirst().dropLast()) }
    let isName = !text.isEmpty && !text.contains(where: { ":/@[] ".contains($0) })
    return isName ? String(text) : nil
  }

  private static func isKnown(_ host: String) -> Bool {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &list) == 0 else { return false }
    freeaddrinfo(list)
    return true
  }

  deinit { lo_address_free(target) }

  /// Sends the numbers as 32-bit floats. Returns false if sending fails, for example because the
  /// target is known to be unreachable.
  @discardableResult
  public func send(_ message: OSCMessage) -> Bool {
    let packet = lo_message_new()
    defer { lo_message_free(packet) }
    for number in message.numbers { lo_message_add_float(packet, Float(number)) }
    return lo_send_message(target, message.address, packet) >= 0
  }
}
