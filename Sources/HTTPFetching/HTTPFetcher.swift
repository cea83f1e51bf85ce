// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Foundation
import FoundationNetworking
public import HLS
import Synchronization

/// A fetcher for resources over HTTP or HTTPS, within the access rules of a presentation.
///
/// ## Threading
/// `fetch` may be called from several threads at once. Each call blocks until the request is done.
public final class HTTPFetcher: ResourceFetcher {
  /// Time limits of a request.
  public struct Patience: Sendable {
    /// Maximum time without a byte, in s.
    public var silence = 8.0
    /// Maximum total time, in s.
    public var total = 120.0

    public init() {}
  }

  private let rules: AccessRules
  private let patience: Patience
  private let session: URLSession
  private let router = TransferRouter()
  private let pace = RequestPace()
  static let mostRedirections = 5

  public init(_ rules: AccessRules, patience: Patience = Patience()) {
    self.rules = rules
    self.patience = patience
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpCookieAcceptPolicy = .never
    configuration.httpShouldSetCookies = false
    configuration.httpMaximumConnectionsPerHost = 2
    // The limits of `fetch` are shorter and apply first.
    configuration.timeoutIntervalForRequest = patience.silence + 5
    configuration.timeoutIntervalForResource = patience.total + 5
    session = URLSession(
      configuration: configuration, delegate: router, delegateQueue: Self.answers())
  }

  deinit { router.end(session) }

  /// The queue that runs the session's callbacks. It gets a thread even if the thread pool is busy.
  /// It is a static property because an operation queue does not retain its underlying queue.
  private static let answering = DispatchQueue(label: "HTTPFetching.answering")

  /// Returns the operation queue for the session's callbacks.
  private static func answers() -> OperationQueue {
    let result = OperationQueue()
    result.maxConcurrentOperationCount = 1
    result.underlyingQueue = answering
    return result
  }

  public func fetch(
    _ request: FetchRequest, goesOn: (FetchTiming) -> Bool
  ) throws(FetchError) -> FetchedResource {
    do throws(AccessRefusal) { try rules.check(request.address) } catch { throw .refused(error) }
    guard case .network(let text) = request.address, let url = URL(string: text) else {
      throw .refused(AccessRefusal(request.address.description, "it is not a valid address"))
    }
    let start = monotonic_nanoseconds()
    while !pace.mayAsk(now: monotonic_nanoseconds()) {
      guard goesOn(FetchTiming(seconds: Self.seconds(since: start))) else { throw .interrupted }
      Thread.sleep(forTimeInterval: 0.02)
    }
    let transfer = Transfer(limit: request.limit, start: start) { [rules] address in
      do throws(AccessRefusal) {
        try rules.check(.network(address))
        return nil
      } catch { return error }
    }
    let task = session.dataTask(with: Self.urlRequest(url, request))
    router.add(transfer, for: task)
    task.resume()
    defer { router.cancel(task) }
    while !transfer.waitForEnd(seconds: 0.1) {
      let timing = transfer.timing
      guard goesOn(timing) else { throw .abandoned(timing) }
      if let silence = transfer.silence, silence > patience.silence {
        throw .timedOut(seconds: patience.silence)
      }
      if timing.seconds > patience.total { throw .timedOut(seconds: patience.total) }
    }
    return try transfer.result(for: request)
  }

  private static func seconds(since start: Int64) -> Double {
    Double(monotonic_nanoseconds() - start) * 1e-9
  }

  private static func urlRequest(_ url: URL, _ request: FetchRequest) -> URLRequest {
    var result = URLRequest(url: url)
    result.setValue("Stillstage", forHTTPHeaderField: "User-Agent")
    // With compression, the length of the body could not be checked.
    result.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    if let range = request.range {
      result.setValue("bytes=\(range.offset)-\(range.end - 1)", forHTTPHeaderField: "Range")
    }
    if let tag = request.validator?.tag {
      result.setValue(tag, forHTTPHeaderField: "If-None-Match")
    }
    if let date = request.validator?.lastModified {
      result.setValue(date, forHTTPHeaderField: "If-Modified-Since")
    }
    return result
  }
}

/// A limit of 20 requests per second.
final class RequestPace: Sendable {
  static let most = 20
  private let moments = Mutex<[Int64]>([])

  /// Returns whether a request may be made at the time `now`, in CLOCK_MONOTONIC nanoseconds. If
  /// so, counts the request.
  func mayAsk(now: Int64) -> Bool {
    moments.withLock { moments in
      moments.removeAll { now - $0 >= 1_000_000_000 }
      guard moments.count < Self.most else { return false }
      moments.append(now)
      return true
    }
  }
}
