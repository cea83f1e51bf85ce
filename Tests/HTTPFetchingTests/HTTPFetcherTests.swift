// SPDX-License-Identifier: Apache-2.0

import HLS
import Synchronization
import TestSupport
import Testing

@testable import HTTPFetching

/// Tests against a real server (Tests/Fixtures/http_server.py) on the loopback interface.
@Suite final class HTTPFetcherTests {
  private let server: RunningProgram
  private let base: String

  init() throws {
    let here = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    server = try RunningProgram(["python3", "/\(here)/Fixtures/http_server.py"])
    base = "http://127.0.0.1:" + (try server.line(with: "", seconds: 20).text)
  }

  private func fetch(
    _ path: String, range: ByteRange? = nil, limit: Int = 1 << 20, validator: FetchValidator? = nil,
    host: String = "127.0.0.1", patience: NetworkPatience = .init(),
    goesOn: (FetchTiming) -> Bool = { _ in true }
  ) throws(FetchError) -> FetchedResource {
    try HTTPFetcher(AccessRules(.server(host: host)), patience: patience).fetch(
      FetchRequest(.network(base + path), range: range, limit: limit, validator: validator),
      goesOn: goesOn)
  }

  private func body(_ range: Range<Int>) -> [UInt8] { range.map { UInt8($0 * 7 % 251) } }

  @Test func bodiesAndByteRangesAreFetched() throws {
    let whole = try fetch("/body/10000")
    #expect(whole.bytes == body(0..<10_000))
    #expect(whole.timing.bytes == 10_000 && whole.timing.expected == 10_000)
    #expect(try #require(whole.timing.firstByte) <= whole.timing.seconds)
    for kind in ["body", "plain"] {
      let part = try fetch("/\(kind)/10000", range: ByteRange(offset: 100, length: 50))
      #expect(part.bytes == body(100..<150))
    }
    #expect(throws: FetchError.tooShort(expected: 50, got: 20)) {
      try fetch("/body/120", range: ByteRange(offset: 100, length: 50))
    }
    #expect(throws: FetchError.status(416, retryAfter: nil)) {
      try fetch("/body/120", range: ByteRange(offset: 200, length: 50))
    }
  }

  /// The first byte's time is that of the response header, because throughput is measured from
  /// there.
  @Test func firstByteTimeIsThatOfTheResponseHeader() throws {
    let timing = try fetch("/late/1000").timing
    #expect(timing.seconds - (try #require(timing.firstByte)) > 0.45)
  }

  @Test func unchangedResourceIsNotSentAgain() throws {
    let first = try fetch("/body/10")
    #expect(first.validator?.tag == "\"tag\"" && !first.isUnchanged)
    let second = try fetch("/body/10", validator: first.validator)
    #expect(second.isUnchanged && second.bytes.isEmpty)
  }

  @Test func errorStatusesAreReported() {
    #expect(throws: FetchError.status(404, retryAfter: 3)) { try fetch("/status/404") }
    #expect(throws: FetchError.status(503, retryAfter: 3)) { try fetch("/status/503") }
    #expect(FetchError.status(503, retryAfter: nil).isPassing)
    #expect(!FetchError.status(404, retryAfter: nil).isPassing)
  }

  @Test func redirectsAreFollowedAndChecked() throws {
    let direct = try fetch("/to?/body/20")
    #expect(direct.bytes == body(0..<20))
    #expect(direct.address == .network(base + "/body/20"))
    #expect {
      try fetch("/loop")
    } throws: {
      "\($0)".hasSuffix("there were more than 5 redirects")
    }
    let port = base.split(separator: ":").last ?? ""
    #expect {
      try fetch("/to?http://localhost:\(port)/body/20")
    } throws: {
      "\($0)".hasSuffix("to such a host only if you named that host")
    }
    #expect {
      try fetch("/to?file:///etc/passwd")
    } throws: { error in
      !"\(error)".isEmpty
    }
    #expect {
      try fetch("/body/20", host: "elsewhere.example")
    } throws: {
      "\($0)".hasSuffix("to such a host only if you named that host")
    }
  }

  /// A name that resolves to a private address is refused when the connection is opened, whatever
  /// it resolved to before.
  @Test(arguments: ["127.0.0.1", "[::1]", "127.0.0.1,[::1]"])
  func privateAddressOfANameIsRefusedWhenItIsConnectedTo(addresses: String) throws {
    let port = base.split(separator: ":").last ?? ""
    let fetcher = HTTPFetcher(
      AccessRules(.server(host: "127.0.0.1")), patience: NetworkPatience(),
      known: ["rebinding.example:\(port):\(addresses)"])
    let name = "rebinding.example:\(port)"
    for address in ["http://\(name)/body/20", "\(base)/to?//\(name)/body/20"] {
      #expect {
        try fetcher.fetch(FetchRequest(.network(address), limit: 100), goesOn: { _ in true })
      } throws: {
        "\($0)".hasSuffix("to such a host only if you named that host")
      }
    }
    let log = String(decoding: try fetch("/log").bytes, as: UTF8.self)
    #expect(!log.split(separator: "\n").contains("/body/20"))
  }

  /// A name may have a private address if the user named it.
  @Test func privateAddressOfTheNamedHostIsConnectedTo() throws {
    let port = base.split(separator: ":").last ?? ""
    let fetcher = HTTPFetcher(
      AccessRules(.server(host: "Mine.Example")), patience: NetworkPatience(),
      known: ["mine.example:\(port):127.0.0.1"])
    let fetched = try fetcher.fetch(
      FetchRequest(.network("http://mine.example:\(port)/body/20"), limit: 100),
      goesOn: { _ in true })
    #expect(fetched.bytes == body(0..<20))
  }

  @Test(arguments: [
    "http://user@127.0.0.1:1@localhost/", "http://127.0.0.1\\@localhost/", "http://2130706433/",
    "http://0x7f.1/", "http://127.1/", "http://localhost#@127.0.0.1/", "http://[::ffff:127.0.0.1]/",
  ])
  func unusualFormsOfPrivateAddressesAreRefused(address: String) {
    let fetcher = HTTPFetcher(AccessRules(.server(host: "127.0.0.2")))
    #expect {
      try fetcher.fetch(FetchRequest(.network(address), limit: 100), goesOn: { _ in true })
    } throws: { error in
      guard case FetchError.refused = error else { return false }
      return true
    }
  }

  @Test func incompleteBodiesAreRefused() {
    #expect(throws: FetchError.tooShort(expected: 1000, got: 500)) { try fetch("/short/1000") }
    #expect(throws: FetchError.self) { try fetch("/reset") }
  }

  @Test func bodiesBeyondTheLimitAreRefused() {
    #expect(throws: FetchError.tooLong(limit: 1000)) { try fetch("/body/1001", limit: 1000) }
    #expect(throws: FetchError.tooLong(limit: 1 << 20)) { try fetch("/endless") }
  }

  @Test func silentServersTimeOut() {
    for path in ["/silent/1000", "/hang"] {
      #expect(throws: FetchError.timedOut(seconds: 0.5)) {
        try fetch(path, patience: NetworkPatience(seconds: 1))
      }
    }
  }

  /// The server sends 10 bytes every 0.2 s, so it is never silent.
  @Test func serverBelowTheLeastRateIsGivenUp() {
    let clock = ContinuousClock()
    let start = clock.now
    #expect(throws: FetchError.tooSlow(seconds: 2)) {
      try fetch("/trickle/10", patience: NetworkPatience(seconds: 2))
    }
    #expect((1.9..<3.5).contains((clock.now - start) / .seconds(1)))
    // 1000 bytes/s are enough, even if the transfer takes longer than the time limit.
    #expect(throws: Never.self) {
      try fetch("/slow/1000", patience: NetworkPatience(seconds: 0.6))
    }
  }

  @Test func longWaitsAreTold() throws {
    let waits = Mutex<[FetchWait?]>([])
    let patience = NetworkPatience { wait in waits.withLock { $0.append(wait) } }
    #expect(throws: FetchError.self) {
      try fetch("/silent/1000", patience: patience) { $0.seconds < 2.6 }
    }
    let told = waits.withLock { $0 }
    #expect((3...8).contains(told.count) && told.last == .some(nil))
    let first = try #require(told.first ?? nil)
    #expect(first.host == "127.0.0.1" && first.bytes == 500 && first.seconds > 2)
  }

  /// The server is silent for 30 s, and the fetch would wait for 15 s.
  @Test func cancelledFetchEndsWithinHalfASecond() throws {
    let clock = ContinuousClock()
    var lastCall = clock.now
    #expect {
      try fetch("/silent/1000") { timing in
        lastCall = clock.now
        return timing.bytes < 500
      }
    } throws: { error in
      guard case FetchError.abandoned(let timing) = error else { return false }
      return timing.bytes == 500 && timing.expected == 1000
    }
    #expect(clock.now - lastCall < .seconds(0.5))
  }

  @Test func unreachableServerIsAConnectionError() {
    #expect(throws: FetchError.connection("the host refuses the connection or cannot be reached")) {
      try HTTPFetcher(AccessRules(.server(host: "127.0.0.1"))).fetch(
        FetchRequest(.network("http://127.0.0.1:1/x"), limit: 10), goesOn: { _ in true })
    }
  }

  @Test func paceAllowsAtMost20RequestsPerSecond() {
    let pace = RequestPace()
    let granted = (0..<3000).filter { pace.mayAsk(now: Int64($0) * 1_000_000) }
    #expect(granted.count == 60)
    for window in 0..<2000 {
      #expect(granted.count { (window..<(window + 1000)).contains($0) } <= 20)
    }
  }
}
