// SPDX-License-Identifier: Apache-2.0

internal import SoundServer

/// The cycle lengths that a stream requests.
///
/// The server uses the shortest cycle that any node requests, within the server's own limits. It
/// rounds the number of frames down to a power of two.
enum Quantum {
  /// The cycle length to request if `latencyIsFree` is set and no latency is configured [ms].
  static let relaxedMilliseconds = 42.7

  static func rules(_ configuration: AudioOutputConfiguration) -> QueueDepth.Rules {
    var rules = QueueDepth.Rules()
    let shortest = configuration.shortestCycleMilliseconds
    (rules.appended, rules.shallowest, rules.deepest) = (shortest, shortest, 42.7)
    rules.quietNanoseconds = configuration.queueRules.quietNanoseconds
    rules.settlingNanoseconds = configuration.queueRules.settlingNanoseconds
    return rules
  }

  /// Returns the value of `node.latency` for a cycle length.
  static func request(milliseconds: Double, rate: Int) -> String {
    let frames = Int((milliseconds * Double(rate) / 1000).rounded(.down))
    return "\(max(16, frames))/\(rate)"
  }
}
