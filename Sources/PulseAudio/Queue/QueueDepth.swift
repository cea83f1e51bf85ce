// SPDX-License-Identifier: Apache-2.0

/// The queue depth to request from the server: fixed, or adapted to the machine.
///
/// An adaptive depth doubles when the queue runs dry or nearly so, and shrinks by a fifth in every
/// quiet minute. Depths are in milliseconds, times are CLOCK_MONOTONIC nanoseconds.
struct QueueDepth: Equatable {
  struct Rules: Equatable {
    var shallowest = 40.0
    var deepest = 200.0
    /// Initial and smallest depth of a rewritten queue, in which depth adds no latency.
    var rewritten = 150.0
    /// Initial depth of a queue that is not rewritten, in which depth is latency.
    var appended = 50.0
    var quietNanoseconds: Int64 = 60_000_000_000
    /// Further trouble within this time after a change is ignored, since one stall causes several
    /// reports.
    var settlingNanoseconds: Int64 = 500_000_000

    /// Rules for a queue in which depth costs nothing although it is not rewritten.
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
  /// The time of the last trouble, or of the first call of `pass`.
  private var troubled: Int64?

  /// - Parameter fixed: a depth to keep; nil for an adaptive depth.
  init(fixed: Double?, isRewritten: Bool, rules: Rules = Rules()) {
    self.rules = rules
    self.isRewritten = isRewritten
    isAdaptive = fixed == nil
    milliseconds = fixed ?? (isRewritten ? rules.rewritten : rules.appended)
  }

  private var floor: Double { isRewritten ? rules.rewritten : rules.shallowest }

  /// Sets whether the queue is rewritten. Returns true if the depth changed.
  mutating func setRewritten(_ rewritten: Bool, now: Int64) -> Bool {
    guard rewritten != isRewritten else { return false }
    isRewritten = rewritten
    guard isAdaptive else { return false }
    return change(to: rewritten ? rules.rewritten : rules.appended, now)
  }

  /// Notes that the queue ran dry or nearly so. Returns true if the depth changed.
  mutating func ranLow(now: Int64) -> Bool {
    let isSettled = now - changed >= rules.settlingNanoseconds
    troubled = now
    guard isAdaptive, isSettled else { return false }
    return change(to: min(milliseconds * 2, rules.deepest), now)
  }

  /// Shrinks the depth after a quiet time. Returns true if the depth changed.
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
