// SPDX-License-Identifier: Apache-2.0

import Foundation
import HLS
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
    host: String = "127.0.0.1", patience: HTTPFetcher.Patience = .init(),
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
      "\($0)".hasSuffix("only on the host that you named")
    }
    #expect {
      try fetch("/to?file:///etc/passwd")
    } throws: { error in
      !"\(error)".isEmpty
    }
    #expect {
      try fetch("/body/20", host: "elsewhere.example")
    } throws: {
      "\($0)".hasSuffix("only on the host that you named")
    }
  }

  /// No handler may be called for a task that is refused or cancelled at the same moment, because
  /// Foundation would terminate the process.
  @Test func refusalAndCancellationNeverEndTheProcess() {
    for round in 0..<60 {
      #expect(throws: FetchError.self) {
        try fetch(round % 2 == 0 ? "/to?http://10.0.0.1/" : "/loop") { _ in round % 3 != 0 }
      }
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

  /// A server that sends without end may be read for a while until Foundation notices the
  /// cancellation.
  @Test func dataBeyondTheLimitIsDiscarded() {
    let transfer = Transfer(limit: 1000, start: 0) { _ in nil }
    transfer.take(Data(count: 999))
    #expect(transfer.timing.bytes == 999 && !transfer.waitForEnd(seconds: 0))
    for _ in 0..<100 { transfer.take(Data(count: 1 << 20)) }
    #expect(transfer.timing.bytes == 0 && transfer.waitForEnd(seconds: 0))
  }

  @Test func silentAndSlowServersTimeOut() {
    var patience = HTTPFetcher.Patience()
    patience.silence = 0.5
    for path in ["/silent/1000", "/hang"] {
      #expect(throws: FetchError.timedOut(seconds: 0.5)) { try fetch(path, patience: patience) }
    }
    patience.silence = 5
    patience.total = 0.4
    #expect(throws: FetchError.timedOut(seconds: 0.4)) {
      try fetch("/slow/100", patience: patience)
    }
  }

  /// The server is silent for 30 s, and the fetch would wait for 8 s.
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
