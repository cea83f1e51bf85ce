// SPDX-License-Identifier: Apache-2.0

import CCurl
import HLS

/// A libcurl handle for one transfer at a time. It keeps connections open between transfers.
///
/// ## Threading
/// Use the handle on one thread at a time.
final class CurlConnection: @unchecked Sendable {
  private let multi: UnsafeMutableRawPointer
  private let easy: UnsafeMutableRawPointer
  private var headers: UnsafeMutablePointer<curl_slist>?
  private var addresses: UnsafeMutablePointer<curl_slist>?
  private var transfer: Transfer?
  private var isRunning = false

  private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  /// Returns nil if libcurl cannot be initialised.
  init?() {
    guard Self.isReady, let multi = curl_multi_init() else { return nil }
    guard let easy = curl_easy_init() else {
      curl_multi_cleanup(multi)
      return nil
    }
    (self.multi, self.easy) = (multi, easy)
  }

  deinit {
    end()
    curl_easy_cleanup(easy)
    curl_multi_cleanup(multi)
    curl_slist_free_all(headers)
    curl_slist_free_all(addresses)
  }

  /// Begins a transfer, which `advance` continues.
  ///
  /// - Parameter known: host names with the IP addresses to use instead of a DNS lookup, in the
  ///   format of `CURLOPT_RESOLVE`.
  func begin(_ transfer: Transfer, _ request: FetchRequest, known: [String]) {
    end()
    curl_easy_reset(easy)
    self.transfer = transfer
    transfer.handle = easy
    let context = Unmanaged.passUnretained(transfer).toOpaque()
    curl_set_limits(easy)
    curl_set_number(easy, CURLOPT_NOSIGNAL, 1)
    curl_set_pointer(easy, CURLOPT_CURLU, transfer.address.url.pointer)
    curl_set_body(easy, Self.takeBody, context)
    curl_set_header(easy, Self.takeHeader, context)
    curl_set_opener(easy, Self.openSocket, context)
    curl_set_text(easy, CURLOPT_USERAGENT, "Stillstage")
    curl_slist_free_all(headers)
    headers = nil
    // Ask for an uncompressed body, because this program does not decompress bodies.
    add("Accept-Encoding: identity")
    if let range = request.range { add("Range: bytes=\(range.offset)-\(range.end - 1)") }
    if let tag = request.validator?.tag { add("If-None-Match: \(tag)") }
    if let date = request.validator?.lastModified { add("If-Modified-Since: \(date)") }
    curl_set_pointer(easy, CURLOPT_HTTPHEADER, headers)
    if !known.isEmpty {
      curl_slist_free_all(addresses)
      addresses = known.reduce(nil) { curl_slist_append($0, $1) }
      curl_set_pointer(easy, CURLOPT_RESOLVE, addresses)
    }
    isRunning = curl_multi_add_handle(multi, easy) == CURLM_OK
    if !isRunning { transfer.end(CURLE_FAILED_INIT) }
  }

  private func add(_ header: String) { headers = curl_slist_append(headers, header) }

  /// Continues the transfer. If it has not ended, waits for the network for up to `milliseconds`.
  /// Returns whether the transfer has ended.
  func advance(milliseconds: Int32) -> Bool {
    guard isRunning, let transfer else { return true }
    var running: Int32 = 0
    var result = CURLE_OK
    if curl_multi_perform(multi, &running) != CURLM_OK { result = CURLE_FAILED_INIT }
    if result == CURLE_OK, curl_ended(multi, &result) == 0 {
      curl_multi_poll(multi, nil, 0, milliseconds, nil)
      return false
    }
    transfer.end(result)
    end()
    return true
  }

  private func end() {
    if isRunning { curl_multi_remove_handle(multi, easy) }
    isRunning = false
    transfer?.handle = nil
    transfer = nil
  }

  // MARK: Calls from libcurl

  private static func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  private static let takeBody: curl_bytes_callback = { bytes, _, count, context in
    guard let bytes, let transfer = transfer(context) else { return 0 }
    return transfer.take(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
  }

  private static let takeHeader: curl_bytes_callback = { bytes, _, count, context in
    guard let bytes, let transfer = transfer(context) else { return 0 }
    let line = UnsafeRawBufferPointer(start: bytes, count: count)
    return transfer.take(header: String(decoding: line, as: UTF8.self)) ? count : 0
  }

  private static let openSocket: curl_opensocket_callback = { context, _, place in
    guard let place, let transfer = transfer(context) else { return CurlSocket.none }
    return CurlSocket.open(place, transfer)
  }
}
