// SPDX-License-Identifier: Apache-2.0

/// A fetcher that repeats a failed request if the error's `isPassing` is true.
public struct PersistentFetcher: ResourceFetcher {
  /// The number of requests for a resource, the waits between them, and the limit on slow fetches.
  public struct Persistence: Sendable {
    /// Maximum number of requests, including the first.
    public var attempts = 4
    /// Wait before the second request, in s. The wait doubles for each further request, up to
    /// `longestWait`.
    public var firstWait = 0.25
    /// Maximum wait in s, even if the server requests a longer one.
    public var longestWait = 4.0
    /// Time over which the rate is averaged, in s. A fetch with an average below
    /// `TransferPace.least` is given up.
    public var seconds = 30.0

    public init() {}

    /// Returns the wait after this many failed requests, in s. It is longer, up to `longestWait`,
    /// if the server requests that.
    func wait(after failures: Int, _ error: FetchError) -> Double {
      var wait = firstWait
      for _ in 1..<max(1, failures) { wait *= 2 }
      if case .status(_, let wish?) = error { wait = max(wait, wish) }
      return min(wait, longestWait)
    }
  }

  private let fetcher: any ResourceFetcher
  private let persistence: Persistence
  private let pause: @Sendable (_ seconds: Double) -> Void

  /// Creates a fetcher that makes each request with `fetcher`.
  ///
  /// - Parameter pause: blocks the calling thread for a number of seconds.
  public init(
    _ fetcher: any ResourceFetcher, persistence: Persistence = Persistence(),
    pause: @escaping @Sendable (_ seconds: Double) -> Void
  ) {
    self.fetcher = fetcher
    self.persistence = persistence
    self.pause = pause
  }

  public func fetch(
    _ request: FetchRequest, goesOn: (FetchTiming) -> Bool
  ) throws(FetchError) -> FetchedResource {
    var failures = 0
    var pace = TransferPace(seconds: persistence.seconds)
    // The time in s that all earlier requests and waits took, the number of bytes that they
    // received, and the timing of the current request.
    var (seconds, bytes, now) = (0.0, 0, FetchTiming())
    var isTooSlow = false
    func watched(_ timing: FetchTiming) -> Bool {
      now = timing
      isTooSlow = pace.isTooSlow(bytes: bytes + timing.bytes, at: seconds + timing.seconds)
      return !isTooSlow && goesOn(timing)
    }
    while true {
      do throws(FetchError) {
        return try fetcher.fetch(request, goesOn: watched)
      } catch {
        if isTooSlow { throw .tooSlow(seconds: persistence.seconds) }
        failures += 1
        guard error.isPassing, failures < persistence.attempts else { throw error }
        (seconds, bytes) = (seconds + now.seconds, bytes + now.bytes)
        var left = persistence.wait(after: failures, error)
        while left > 0 {
          guard watched(FetchTiming()) else {
            throw isTooSlow ? .tooSlow(seconds: persistence.seconds) : .interrupted
          }
          pause(min(left, 0.1))
          left -= 0.1
          seconds += 0.1
        }
      }
    }
  }
}
