// SPDX-License-Identifier: Apache-2.0

/// The queue depth to request from the server; fixed or adaptive.
///
/// An adaptive depth doubles when the queue runs low. It shrinks by a fifth when the queue has not
/// run low for some time. The limits are in `Rules`. Depths are in milliseconds. Times are
/// CLOCK_MONOTONIC nanoseconds.
package struct QueueDepth: Equatable {
  package struct Rules: Equatable {
    package var shallowest = 40.0
    package var deepest = 200.0
    /// Initial and smallest depth of a rewritten queue.
    package var rewritten = 150.0
    /// Initial depth of a queue that is not rewritten.
    package var appended = 50.0
    package var quietNanoseconds: Int64 = 60_000_000_000
    /// For this time after a change of the depth, a low queue does not change the depth again.
    package var settlingNanoseconds: Int64 = 500_000_000

    package init() {}

    /// These rules, but with a rewritten queue's depths also for a queue that is not rewritten. Use
    /// them if latency does no harm.
    package var deep: Rules {
      var rules = self
      (rules.appended, rules.shallowest) = (rewritten, rewritten)
      return rules
    }
  }

  private static let decay = 0.8

  package let rules: Rules
  package private(set) var milliseconds: Double
  private let isAdaptive: Bool
  package private(set) var isRewritten: Bool
  private var changed: Int64 = .min / 2
  /// The time at which the queue last ran low. Until then, the time of the first call of `pass`;
  /// nil before that call.
  private var troubled: Int64?

  /// - Parameter fixed: a constant depth; nil for an adaptive depth.
  package init(fixed: Double?, isRewritten: Bool, rules: Rules = Rules()) {
    self.rules = rules
    self.isRewritten = isRewritten
    isAdaptive = fixed == nil
    milliseconds = fixed ?? (isRewritten ? rules.rewritten : rules.appended)
  }

  private var floor: Double { isRewritten ? rules.rewritten : rules.shallowest }

  /// Sets whether the queue is rewritten. A change resets an adaptive depth to its initial value.
  /// Returns whether the depth changed.
  package mutating func setRewritten(_ rewritten: Bool, now: Int64) -> Bool {
    guard rewritten != isRewritten else { return false }
    isRewritten = rewritten
    guard isAdaptive else { return false }
    return change(to: rewritten ? rules.rewritten : rules.appended, now)
  }

  /// Notes that the queue ran low. Doubles an adaptive depth unless the depth changed recently.
  /// Returns whether the depth changed.
  package mutating func ranLow(now: Int64) -> Bool {
    let isSettled = now - changed >= rules.settlingNanoseconds
    troubled = now
    guard isAdaptive, isSettled else { return false }
    return change(to: min(milliseconds * 2, rules.deepest), now)
  }

  /// Shrinks an adaptive depth if, for `quietNanoseconds`, the queue has not run low and the depth
  /// has not changed. Returns whether the depth changed.
  package mutating func pass(now: Int64) -> Bool {
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
