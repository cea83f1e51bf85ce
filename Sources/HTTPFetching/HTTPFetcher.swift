// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
public import HLS
import Synchronization

/// A fetcher for resources over HTTP or HTTPS, within a presentation's access rules.
///
/// Unless the user named the host, the IP address of each connection is checked when its socket is
/// opened. If the environment names a proxy, the host's IP addresses are checked before the request
/// instead.
///
/// ## Threading
/// `fetch` may be called from several threads at once. Each call blocks until the request is done.
public final class HTTPFetcher: ResourceFetcher {
  private let rules: AccessRules
  private let patience: NetworkPatience
  /// Host names with the IP addresses to use instead of a DNS lookup, in the format of
  /// `CURLOPT_RESOLVE`.
  private let known: [String]
  private let pace = RequestPace()
  private let idle = Mutex<[CurlConnection]>([])
  /// The start and the end of the latest period in which successive fetches received nothing, in
  /// ns; nil after an answer. Repeated requests thus count as one wait.
  private let silence = Mutex<(start: Int64, end: Int64)?>(nil)
  static let mostRedirections = 5
  private static let mostIdle = 4
  /// Time after which a fetch counts as waiting, in s.
  private static let longWait = 2.0

  public convenience init(_ rules: AccessRules, patience: NetworkPatience = NetworkPatience()) {
    self.init(rules, patience: patience, known: [])
  }

  init(_ rules: AccessRules, patience: NetworkPatience, known: [String]) {
    self.rules = rules
    self.patience = patience
    self.known = known
  }

  public func fetch(
    _ request: FetchRequest, goesOn: (FetchTiming) -> Bool
  ) throws(FetchError) -> FetchedResource {
    guard case .network(var address) = request.address else {
      throw .refused(AccessRefusal(request.address.description, "it is not a network address"))
    }
    let start = monotonic_nanoseconds()
    while !pace.mayAsk(now: monotonic_nanoseconds()) {
      guard goesOn(FetchTiming(seconds: Self.seconds(since: start))) else { throw .interrupted }
      usleep(20_000)
    }
    for _ in 0...Self.mostRedirections {
      let transfer = Transfer(try checked(address), limit: request.limit, start: start)
      try run(transfer, request, goesOn)
      guard let next = transfer.redirection else { return try transfer.result(for: request) }
      address = next
    }
    let most = Self.mostRedirections
    throw .refused(AccessRefusal(address, "there were more than \(most) redirects"))
  }

  /// Parses an address and checks it against the access rules.
  private func checked(_ address: String) throws(FetchError) -> CheckedAddress {
    guard let url = CurlURL(address) else {
      throw .refused(AccessRefusal(address, "it is not a valid address"))
    }
    do throws(AccessRefusal) {
      var reach = try rules.reach(of: address, scheme: url.scheme, host: url.host)
      if reach == .publicAddresses, Proxy.isInEnvironment {
        try rules.checkAddresses(of: address, host: url.host)
        // The connection leads to the proxy, whose address need not be public.
        reach = .anyAddress
      }
      return CheckedAddress(text: address, url: url, reach: reach)
    } catch { throw .refused(error) }
  }

  private func run(
    _ transfer: Transfer, _ request: FetchRequest, _ goesOn: (FetchTiming) -> Bool
  ) throws(FetchError) {
    let connection = idle.withLock { $0.popLast() } ?? CurlConnection()
    guard let connection else { throw .connection("out of memory") }
    connection.begin(transfer, request, known: known)
    var pace = TransferPace(seconds: patience.seconds)
    var isAnswered = false
    let since = startOfSilence
    var isTold = Self.seconds(since: since) > Self.longWait
    defer {
      let hasAnswer = transfer.timing.firstByte != nil || isAnswered
      silence.withLock { $0 = hasAnswer ? nil : (since, monotonic_nanoseconds()) }
      if isTold, hasAnswer { patience.onWait(nil) }
    }
    var asked = Int64.min
    while !connection.advance(milliseconds: 100) {
      let now = monotonic_nanoseconds()
      guard now - 90_000_000 > asked else { continue }
      asked = now
      let timing = transfer.timing
      guard goesOn(timing) else { throw .abandoned(timing) }
      if pace.isTooSlow(bytes: timing.bytes, at: timing.seconds) {
        throw .tooSlow(seconds: patience.seconds)
      }
      // Give up a silent connection after half the patience, so that the request can be repeated.
      if transfer.silence > patience.seconds / 2 { throw .timedOut(seconds: patience.seconds / 2) }
      let waited = timing.firstByte == nil ? Self.seconds(since: since) : timing.seconds
      guard waited > Self.longWait else { continue }
      isTold = true
      patience.onWait(
        FetchWait(host: transfer.address.url.host, seconds: waited, bytes: timing.bytes))
    }
    if let failure = transfer.failure { throw failure }
    isAnswered = true
    idle.withLock { if $0.count < Self.mostIdle { $0.append(connection) } }
  }

  /// The time from which to measure the wait for an answer, in ns: the start of the latest silent
  /// period if it ended less than `longWait` ago, otherwise now.
  private var startOfSilence: Int64 {
    let now = monotonic_nanoseconds()
    guard let last = silence.withLock({ $0 }), Self.seconds(since: last.end) < Self.longWait else {
      return now
    }
    return last.start
  }

  private static func seconds(since start: Int64) -> Double {
    Double(monotonic_nanoseconds() - start) * 1e-9
  }
}

/// An address that passed the access rules. If `reach` is `.publicAddresses`, the IP address of its
/// host is checked when the connection is opened.
struct CheckedAddress {
  var text: String
  var url: CurlURL
  var reach: AccessRules.Reach
}

/// The proxy that libcurl takes from the environment.
private enum Proxy {
  private static let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
  static var isInEnvironment: Bool {
    names.contains { getenv($0).map { $0.pointee != 0 } ?? false }
  }
}

/// A limit of 20 requests per second. Redirects do not count.
final class RequestPace: Sendable {
  static let most = 20
  private let moments = Mutex<[Int64]>([])

  /// Returns whether a request may be made at the time `now`, in ns. If so, counts the request.
  func mayAsk(now: Int64) -> Bool {
    moments.withLock { moments in
      moments.removeAll { now - $0 >= 1_000_000_000 }
      guard moments.count < Self.most else { return false }
      moments.append(now)
      return true
    }
  }
}
