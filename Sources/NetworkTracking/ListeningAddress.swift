// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The addresses of this computer at which the datagrams of a network tracker arrive.
public enum ListeningAddress: Sendable, Equatable {
  /// 127.0.0.1, and ::1 if IPv6 is available.
  case loopback
  /// All addresses of this computer.
  case any
  /// One address, IPv4 or IPv6 without brackets.
  case address(String)

  /// Parses `any`, an IPv4 address, or an IPv6 address in brackets; nil for any other text.
  init?(_ text: Substring) {
    if text == "any" {
      self = .any
      return
    }
    let isBracketed = text.first == "[" && text.last == "]"
    let plain = String(isBracketed ? text.dropFirst().dropLast() : text)
    var bytes = in6_addr()
    guard inet_pton(isBracketed ? AF_INET6 : AF_INET, plain, &bytes) == 1 else { return nil }
    self = .address(plain)
  }

  /// The numeric addresses to listen on. `DatagramSocket` skips the second address if this computer
  /// has no IPv6.
  var numeric: [String] {
    switch self {
    case .loopback: ["127.0.0.1", "::1"]
    case .any: ["0.0.0.0", "::"]
    case .address(let address): [address]
    }
  }

  /// Returns a text such as `127.0.0.1:9000`, `[fe80::1]:9000` or `any address, port 9000`.
  func text(port: Int) -> String {
    switch self {
    case .loopback: "127.0.0.1:\(port)"
    case .any: "any address, port \(port)"
    case .address(let address): (address.contains(":") ? "[\(address)]" : address) + ":\(port)"
    }
  }
}
