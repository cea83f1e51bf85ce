// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// An IPv4 or IPv6 address.
public struct NetworkAddress: Sendable, Equatable {
  /// The 16 bytes of an IPv6 address. An IPv4 address is stored as `::ffff:a.b.c.d`.
  private let bytes: [UInt8]

  private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

  /// Parses a numeric address; nil for any other text. Brackets and a zone (`%eth0`) are ignored.
  public init?(_ text: String) {
    var text = text[...]
    if text.first == "[", text.last == "]" { text = text.dropFirst().dropLast() }
    if let zone = text.firstIndex(of: "%") { text = text[..<zone] }
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, String(text), &four) == 1 {
      bytes = Self.mapped + withUnsafeBytes(of: four, Array.init)
    } else if inet_pton(AF_INET6, String(text), &six) == 1 {
      bytes = withUnsafeBytes(of: six, Array.init)
    } else {
      return nil
    }
  }

  /// Returns the IP addresses that a host name resolves to; empty if there are none. A numeric
  /// address is returned as it is.
  public static func resolve(_ host: String) -> [NetworkAddress] {
    if let address = NetworkAddress(host) { return [address] }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    var addresses: [NetworkAddress] = []
    var next = list
    while let entry = next {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let result = getnameinfo(
        entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0,
        NI_NUMERICHOST)
      let numeric = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
      if result == 0, let address = NetworkAddress(numeric) { addresses.append(address) }
      next = entry.pointee.ai_next
    }
    return addresses
  }

  private var isMapped: Bool { bytes.starts(with: Self.mapped) }

  /// Whether the address belongs to the public internet (RFC 6890).
  public var isPublic: Bool {
    if isMapped { return Self.isPublic(four: Array(bytes[12...])) }
    // An address in 64:ff9b::/96 (NAT64) or 2002::/16 (6to4) contains an IPv4 address, which
    // is checked instead.
    if bytes.starts(with: [0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
      return Self.isPublic(four: Array(bytes[12...]))
    }
    if bytes.starts(with: [0x20, 0x02]) { return Self.isPublic(four: Array(bytes[2..<6])) }
    let isGlobal = bytes[0] & 0xE0 == 0x20
    let isDocumentation = bytes.starts(with: [0x20, 0x01, 0x0D, 0xB8])
    let isProtocol = bytes.starts(with: [0x20, 0x01]) && bytes[2] < 2
    return isGlobal && !isDocumentation && !isProtocol
  }

  private static func isPublic(four: [UInt8]) -> Bool {
    switch (four[0], four[1], four[2]) {
    case (0, _, _), (10, _, _), (127, _, _), (224...255, _, _): false
    case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _): false
    case (192, 0, 0), (192, 0, 2), (198, 18...19, _), (198, 51, 100), (203, 0, 113): false
    default: true
    }
  }
}
