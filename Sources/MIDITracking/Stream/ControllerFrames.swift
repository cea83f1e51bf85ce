// SPDX-License-Identifier: Apache-2.0

/// Two controllers that carry one number of 14 bits. The lower half is sent first.
package struct ControllerPair: Sendable, Equatable {
  /// The channel, 1 to 16.
  package var channel: Int
  /// The controller of the upper 7 bits, 0 to 127.
  package var upper: UInt8
  /// The controller of the lower 7 bits, 0 to 127.
  package var lower: UInt8

  package init(channel: Int = 1, upper: UInt8, lower: UInt8) {
    (self.channel, self.upper, self.lower) = (channel, upper, lower)
  }
}

/// Combines control changes into samples of several 14-bit numbers.
///
/// Nothing in the stream marks the end of a sample. A sample ends when no pair has followed for a
/// while, or when the lower half of one of its pairs arrives again. A number that is not sent keeps
/// its value.
package struct ControllerFrames: Sendable {
  /// A sample.
  package struct Frame: Sendable, Equatable {
    /// The number that each pair carries, 0 to 16383; nil if the pair has never been received.
    package var values: [Int?]
    /// The arrival time of the newest pair, in CLOCK_MONOTONIC nanoseconds.
    package var time: Int64
  }

  /// The result of taking a message.
  package enum Step: Sendable, Equatable {
    /// The message belongs to none of the pairs, or to a sample that has not ended.
    case nothing
    /// The message began a new sample, so the previous one has ended.
    case ended(Frame)
    /// The message is an upper half without its lower half.
    case damaged
  }

  private let pairs: [ControllerPair]
  /// How long after its newest pair a sample ends if nothing follows, in nanoseconds. If only a
  /// lower half follows, the time is twice as long.
  private let quiet: Int64
  private var values: [Int?]
  /// The lower half of the pair whose upper half is still to come.
  private var lower: (pair: Int, value: UInt8)?
  /// The pairs of the present sample.
  private var received: Set<Int> = []
  private var newest: Int64 = 0

  package init(_ pairs: [ControllerPair], quietNanoseconds: Int64 = 1_000_000) {
    self.pairs = pairs
    quiet = quietNanoseconds
    values = pairs.map { _ in nil }
  }

  /// The earliest end of the present sample if no further pair arrives, in CLOCK_MONOTONIC
  /// nanoseconds; nil if there is no sample.
  package var due: Int64? { received.isEmpty ? nil : newest + quiet }

  /// Adds a message to the present sample. If the message begins a new sample, returns the previous
  /// one.
  ///
  /// - Parameter arrival: the arrival time, in CLOCK_MONOTONIC nanoseconds.
  package mutating func take(_ message: MIDIMessage, arrival: Int64) -> Step {
    guard let change = message.controlChange else { return .nothing }
    func pair(_ half: KeyPath<ControllerPair, UInt8>) -> Int? {
      pairs.firstIndex { $0.channel == change.channel && $0[keyPath: half] == change.controller }
    }
    if let pair = pair(\.lower) {
      lower = (pair, change.value)
      return received.contains(pair) ? .ended(finish()) : .nothing
    }
    guard let pair = pair(\.upper) else { return .nothing }
    guard let half = lower, half.pair == pair else {
      lower = nil
      return .damaged
    }
    lower = nil
    values[pair] = Int(change.value) << 7 | Int(half.value)
    received.insert(pair)
    newest = max(newest, arrival)
    return .nothing
  }

  /// Returns the present sample if it has ended by the time `now`; nil otherwise.
  package mutating func ended(by now: Int64) -> Frame? {
    guard let due, now >= due, lower == nil || now >= due + quiet else { return nil }
    return finish()
  }

  private mutating func finish() -> Frame {
    received = []
    return Frame(values: values, time: newest)
  }
}
