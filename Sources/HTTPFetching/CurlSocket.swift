// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
import HLS

/// Opens the sockets of libcurl's connections.
enum CurlSocket {
  /// The value that stands for no socket. If libcurl receives this value, it does not connect to
  /// the address.
  static let none: curl_socket_t = -1

  /// Opens the socket for a connection. Returns `none` if the transfer may not connect to the
  /// address, or if the socket cannot be opened.
  static func open(_ place: UnsafeMutablePointer<curl_sockaddr>, _ transfer: Transfer)
    -> curl_socket_t
  {
    let (family, length) = (place.pointee.family, place.pointee.addrlen)
    // An IPv6 address extends beyond the declared structure.
    let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0
    let address = (UnsafeMutableRawPointer(place) + offset).assumingMemoryBound(to: sockaddr.self)
    guard transfer.mayConnect(to: numeric(address, length)) else { return none }
    let type = place.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    return socket(family, type, place.pointee.protocol)
  }

  /// Returns the IP address in a socket address; nil if it contains none.
  private static func numeric(
    _ address: UnsafePointer<sockaddr>, _ length: UInt32
  ) -> NetworkAddress? {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let result = getnameinfo(
      address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    guard result == 0 else { return nil }
    return NetworkAddress(
      String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
  }
}

/// A URL as libcurl parses it, so that the access rules check the host to which libcurl connects.
final class CurlURL {
  private let handle: OpaquePointer
  /// The scheme in lower case.
  let scheme: String
  /// The host name or IP address, without the brackets of an IPv6 address; empty if there is none.
  let host: String

  /// Returns nil if the text is not an absolute URL.
  init?(_ text: String) {
    guard let handle = curl_url() else { return nil }
    let flags = UInt32(CURLU_NON_SUPPORT_SCHEME) | UInt32(CURLU_URLENCODE)
    guard curl_url_set(handle, CURLUPART_URL, text, flags) == CURLUE_OK else {
      curl_url_cleanup(handle)
      return nil
    }
    self.handle = handle
    scheme = Self.part(CURLUPART_SCHEME, of: handle).lowercased()
    var host = Self.part(CURLUPART_HOST, of: handle)
    if host.first == "[", host.last == "]" { host = String(host.dropFirst().dropLast()) }
    self.host = host
  }

  var pointer: UnsafeMutableRawPointer { UnsafeMutableRawPointer(handle) }

  deinit { curl_url_cleanup(handle) }

  private static func part(_ part: CURLUPart, of handle: OpaquePointer) -> String {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return "" }
    defer { curl_free(text) }
    return String(cString: text)
  }
}
