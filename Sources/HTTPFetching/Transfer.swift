// SPDX-License-Identifier: Apache-2.0

import CCurl
import CRealtime
import HLS

/// A request and the part of its response that has arrived.
///
/// ## Threading
/// Use a transfer on one thread only.
final class Transfer {
  let address: CheckedAddress
  /// The libcurl handle while the transfer runs; nil before and after.
  var handle: UnsafeMutableRawPointer?
  private(set) var failure: FetchError?
  /// The address to which the response redirects; nil before the end of the transfer, and if there
  /// is no redirect.
  private(set) var redirection: String?

  private let limit: Int
  private let start: Int64
  private var bytes: [UInt8] = []
  private var status = 0
  private var headers: [String: String] = [:]
  private var expected: Int?
  private var firstByte: Int64?
  private var latest = monotonic_nanoseconds()
  private var end: Int64?

  /// - Parameters:
  ///   - limit: maximum length of the body, in bytes.
  ///   - start: the start of the fetch, before any redirects, in ns of monotonic time.
  init(_ address: CheckedAddress, limit: Int, start: Int64) {
    (self.address, self.limit, self.start) = (address, limit, start)
  }

  // MARK: The fetching thread

  var timing: FetchTiming {
    FetchTiming(
      bytes: bytes.count, seconds: Double((end ?? monotonic_nanoseconds()) - start) * 1e-9,
      firstByte: firstByte.map { Double($0 - start) * 1e-9 }, expected: expected)
  }

  /// Time since data last arrived or, if none has arrived, since this object was created, in s.
  var silence: Double { Double(monotonic_nanoseconds() - latest) * 1e-9 }

  /// Returns the resource. Call this method once, after the end of the transfer.
  ///
  /// - Throws: the reason why the transfer failed or the response cannot be used.
  func result(for request: FetchRequest) throws(FetchError) -> FetchedResource {
    if let failure { throw failure }
    let validator = FetchValidator(tag: headers["etag"], lastModified: headers["last-modified"])
    let isUnchanged = status == 304 && request.validator != nil
    guard isUnchanged || (200...299).contains(status) else {
      throw .status(status, retryAfter: headers["retry-after"].flatMap(Double.init))
    }
    let timing = timing
    if let expected, !isUnchanged, bytes.count < expected {
      throw .tooShort(expected: expected, got: bytes.count)
    }
    if let range = request.range {
      // A server that does not support ranges sends the complete resource.
      if status == 200 { bytes = Array(bytes.dropFirst(range.offset)) }
      guard bytes.count >= range.length else {
        throw .tooShort(expected: range.length, got: bytes.count)
      }
      bytes.removeLast(bytes.count - range.length)
    }
    return FetchedResource(
      bytes: bytes, timing: timing, address: .network(address.text), validator: validator,
      isUnchanged: isUnchanged)
  }

  // MARK: Calls from the connection

  /// Returns whether a connection may be opened, and records a refusal.
  ///
  /// - Parameter place: the IP address to connect to; nil if the socket address has none.
  func mayConnect(to place: NetworkAddress?) -> Bool {
    if address.reach == .anyAddress || place?.isPublic == true { return true }
    refusal = AccessRules.notPublic(address.text)
    return false
  }
  private var refusal: AccessRefusal?

  /// Takes a line of the header. Returns false if the transfer must be stopped because the header
  /// has more than 1000 different fields or announces a body longer than `limit`.
  func take(header line: String) -> Bool {
    latest = monotonic_nanoseconds()
    // A permitted address has answered, so an earlier refusal does not matter.
    refusal = nil
    if line.hasPrefix("HTTP/") {
      (headers, firstByte, expected) = ([:], nil, nil)
      return true
    }
    if let colon = line.firstIndex(of: ":") {
      let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      headers[line[..<colon].lowercased()] = String(value.prefix { !$0.isNewline })
      return headers.count <= 1000
    }
    // This is the empty line after the header. Its time counts as that of the first byte.
    firstByte = latest
    expected = headers["content-length"].flatMap { Int($0) }
    if let expected, expected > limit { failure = .tooLong(limit: limit) }
    return failure == nil
  }

  /// Appends received bytes to the body. Returns false if the transfer must be stopped because the
  /// body is longer than `limit`.
  func take(_ part: UnsafeRawBufferPointer) -> Bool {
    latest = monotonic_nanoseconds()
    guard bytes.count + part.count <= limit else {
      failure = .tooLong(limit: limit)
      bytes = []
      return false
    }
    bytes.append(contentsOf: part)
    return true
  }

  /// Records the time of the transfer's end, the HTTP status and any redirect or failure.
  func end(_ result: CURLcode) {
    end = monotonic_nanoseconds()
    if let handle {
      status = Int(curl_status(handle))
      redirection = curl_redirect(handle).map { String(cString: $0) }
    }
    guard result != CURLE_OK, failure == nil else { return }
    failure = refusal.map { .refused($0) } ?? reason(result)
  }

  private func reason(_ result: CURLcode) -> FetchError {
    if let expected, expected > bytes.count, !bytes.isEmpty {
      return .tooShort(expected: expected, got: bytes.count)
    }
    switch result {
    case CURLE_COULDNT_RESOLVE_HOST: return .connection("the host was not found")
    case CURLE_COULDNT_RESOLVE_PROXY: return .connection("the proxy was not found")
    case CURLE_COULDNT_CONNECT:
      return .connection("the host refuses the connection or cannot be reached")
    case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE,
      CURLE_HTTP2, CURLE_HTTP2_STREAM:
      return .connection("the connection was lost")
    case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING:
      return .connection("the server's answer is invalid")
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER:
      return .connection(
        "no secure connection is possible, for example because the certificate is not trusted")
    default: return .connection(String(cString: curl_easy_strerror(result)))
    }
  }
}
