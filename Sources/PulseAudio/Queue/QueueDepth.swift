// SPDX-License-Identifier: Apache-2.0

/// How deep the queue is asked to be: as given, or following what the machine needs.
///
/// An adaptive queue doubles when it runs dry, or nearly so, and shrinks by a fifth in every quiet
/// minute. Depths are in milliseconds, times CLOCK_MONOTONIC nanoseconds.
struct QueueDepth: Equatable {
  struct Rules: Equatable {
    var shallowest = 40.0
    var deepest = 200.0
    /// Where the queue is rewritten its depth costs nothing: it starts here and stays at least so.
    var rewritten = 150.0
    /// Where it is not, depth is latency.
    var appended = 50.0
    var quietNanoseconds: Int64 = 60_000_000_000
    /// One stall tells of itself more than once.
    var settlingNanoseconds: Int64 = 500_000_000

    /// Depth costs nothing although the queue is not rewritten.
    var deep: Rules {
      var rules = self
      (rules.appended, rules.shallowest) = (rewritten, rewritten)
      return rules
    }
  }

  private static let decay = 0.8

  let rules: Rules
  private(set) var milliseconds: Double
  private let isAdaptive: Bool
  private(set) var isRewritten: Bool
  private var changed: Int64 = .min / 2
  /// The last trouble, or the beginning of time.
  private var troubled: Int64?

  /// - Parameter fixed: a depth to keep; nil: adaptive.
  init(fixed: Double?, isRewritten: Bool, rules: Rules = Rules()) {
    self.rules = rules
    self.isRewritten = isRewritten
    isAdaptive = fixed == nil
    milliseconds = fixed ?? (isRewritten ? rules.rewritten : rules.appended)
  }

  private var floor: Double { isRewritten ? rules.rewritten : rules.shallowest }

  /// The queue is rewritten from now on, or no longer; true if the depth is another.
  mutating func setRewritten(_ rewritten: Bool, now: Int64) -> Bool {
    guard rewritten != isRewritten else { return false }
    isRewritten = rewritten
    guard isAdaptive else { return false }
    return change(to: rewritten ? rules.rewritten : rules.appended, now)
  }

  /// The queue ran dry or nearly so; true if the depth is another.
  mutating func ranLow(now: Int64) -> Bool {
    let isSettled = now - changed >= rules.settlingNanoseconds
    troubled = now
    guard isAdaptive, isSettled else { return false }
    return change(to: min(milliseconds * 2, rules.deepest), now)
  }

  /// Time passes; true if the depth is another.
  mutating func pass(now: Int64) -> Bool {
    let quietFrom = max(changed, troubled ?? now)
    troubled = troubled ?? now
    guard isAdaptive, now - quietFrom >= rules.quietNanoseconds else { return false }
    return change(to: max(milliseconds * Self.decay, floor), now)
  }

  private mutating func change(to depth: Double, _ now: Int64) -> Bool {
    guard depth != milliseconds else { return false }
    milliseconds = depth
    changed = now
    return true
  }
}
