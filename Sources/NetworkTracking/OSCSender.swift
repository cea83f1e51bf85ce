// SPDX-License-Identifier: Apache-2.0

import CLiblo
import Glibc

/// Sends OSC messages over UDP.
///
/// ## Threading
/// Use an instance on one thread only.
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

  /// Returns a host name or address, without the brackets of an IPv6 address; nil if it is
  /// malformed.
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

  /// Sends the numbers as 32-bit floats. Returns false if sending fails.
  @discardableResult
  public func send(_ message: OSCMessage) -> Bool {
    let packet = lo_message_new()
    defer { lo_message_free(packet) }
    for number in message.numbers { lo_message_add_float(packet, Float(number)) }
    return lo_send_message(target, message.address, packet) >= 0
  }
}
