// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Foundation
import FoundationNetworking
import HLS
import Synchronization

/// The state of one response while it arrives.
///
/// ## Threading
/// The session's queue changes the state. The thread that waits for the response reads it.
final class Transfer: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var response: HTTPURLResponse?
    var firstByte: Int64?
    var latest: Int64
    var redirections = 0
    var failure: FetchError?
    var hasEnded = false
    var end: Int64 = 0
  }

  private let limit: Int
  private let start: Int64
  private let refusal: @Sendable (_ address: String) -> AccessRefusal?
  private let state: Mutex<State>
  private let ended = DispatchSemaphore(value: 0)

  init(
    limit: Int, start: Int64, refusal: @escaping @Sendable (_ address: String) -> AccessRefusal?
  ) {
    self.limit = limit
    self.start = start
    self.refusal = refusal
    state = Mutex(State(latest: monotonic_nanoseconds()))
  }

  // MARK: The waiting thread

  func waitForEnd(seconds: Double) -> Bool {
    if ended.wait(timeout: .now() + seconds) == .success { return true }
    return state.withLock { $0.failure != nil }
  }

  var timing: FetchTiming { state.withLock { timing($0) } }

  /// The time, in s, since the header or data last arrived, or since the transfer was created if
  /// nothing has arrived. Never nil.
  var silence: Double? { state.withLock { Double(monotonic_nanoseconds() - $0.latest) * 1e-9 } }

  private func timing(_ state: State) -> FetchTiming {
    let end = state.hasEnded ? state.end : monotonic_nanoseconds()
    let expected = state.response.map { Int($0.expectedContentLength) } ?? -1
    return FetchTiming(
      bytes: state.bytes.count, seconds: Double(end - start) * 1e-9,
      firstByte: state.firstByte.map { Double($0 - start) * 1e-9 },
      expected: expected >= 0 ? expected : nil)
  }

  /// Returns the resource. Call this method only after `waitForEnd` has returned true.
  ///
  /// - Throws: the reason why the transfer failed or the response cannot be used.
  func result(for request: FetchRequest) throws(FetchError) -> FetchedResource {
    let state = state.withLock { $0 }
    if let failure = state.failure { throw failure }
    guard let response = state.response, let url = response.url else {
      throw .connection("the server did not answer")
    }
    let validator = FetchValidator(
      tag: response.value(forHTTPHeaderField: "ETag"),
      lastModified: response.value(forHTTPHeaderField: "Last-Modified"))
    let isUnchanged = response.statusCode == 304 && request.validator != nil
    guard isUnchanged || (200...299).contains(response.statusCode) else {
      let wait = response.value(forHTTPHeaderField: "Retry-After").flatMap(Double.init)
      throw .status(response.statusCode, retryAfter: wait)
    }
    let timing = timing(state)
    if let expected = timing.expected, !isUnchanged, state.bytes.count < expected {
      throw .tooShort(expected: expected, got: state.bytes.count)
    }
    var bytes = state.bytes
    if let range = request.range {
      // A server that does not support ranges sends the complete resource.
      if response.statusCode == 200 { bytes = Array(bytes.dropFirst(range.offset)) }
      guard bytes.count >= range.length else {
        throw .tooShort(expected: range.length, got: bytes.count)
      }
      bytes.removeLast(bytes.count - range.length)
    }
    return FetchedResource(
      bytes: bytes, timing: timing, address: .network(url.absoluteString), validator: validator,
      isUnchanged: isUnchanged)
  }

  // MARK: The session's queue

  /// Stores the header of the response. Returns false if the transfer must be stopped.
  func begin(_ response: URLResponse) -> Bool {
    change { state in
      state.response = response as? HTTPURLResponse
      let now = monotonic_nanoseconds()
      // Foundation delivers data some time after its first byte has arrived. So the time of the
      // header is used for the first byte.
      (state.firstByte, state.latest) = (now, now)
      if response.expectedContentLength > Int64(limit) { state.failure = .tooLong(limit: limit) }
    }
  }

  /// Appends a part of the body. After a failure, the part is discarded.
  func take(_ data: Data) {
    _ = change { state in
      guard state.failure == nil else { return }
      state.latest = monotonic_nanoseconds()
      if state.bytes.count + data.count <= limit {
        state.bytes.append(contentsOf: data)
      } else {
        state.failure = .tooLong(limit: limit)
        state.bytes = []
      }
    }
  }

  /// Handles a redirect. Returns false if the redirect must not be followed.
  func follow(_ address: String) -> Bool {
    let refusal = refusal(address)
    return change { state in
      state.redirections += 1
      let most = HTTPFetcher.mostRedirections
      if state.redirections > most {
        state.failure = .refused(AccessRefusal(address, "there were more than \(most) redirects"))
      } else if let refusal {
        state.failure = .refused(refusal)
      }
    }
  }

  /// Changes the state. After a failure, returns false and wakes the waiting thread, because the
  /// session might make no further calls.
  private func change(_ body: (inout sending State) -> Void) -> Bool {
    let goesOn = state.withLock { state in
      body(&state)
      return state.failure == nil
    }
    if !goesOn { ended.signal() }
    return goesOn
  }

  func end(_ error: (any Error)?) {
    state.withLock { state in
      state.hasEnded = true
      state.end = monotonic_nanoseconds()
      if let error, state.failure == nil { state.failure = Self.failure(error, state) }
    }
    ended.signal()
  }

  private static func failure(_ error: any Error, _ state: State) -> FetchError {
    let expected = state.response.map { Int($0.expectedContentLength) } ?? -1
    if expected > state.bytes.count, !state.bytes.isEmpty {
      return .tooShort(expected: expected, got: state.bytes.count)
    }
    guard let error = error as? URLError else { return .connection("\(error)") }
    switch error.code {
    case .timedOut: return .timedOut(seconds: Double(monotonic_nanoseconds() - state.latest) * 1e-9)
    case .networkConnectionLost: return .connection("the connection was lost")
    case .badServerResponse: return .connection("the server's answer is invalid")
    case .cannotConnectToHost:
      return .connection("the host refuses the connection or cannot be reached")
    case .cannotFindHost, .dnsLookupFailed: return .connection("the host was not found")
    case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateHasUnknownRoot:
      return .connection(
        "no secure connection is possible, for example because the certificate is not trusted")
    default: return .connection(error.localizedDescription)
    }
  }
}
