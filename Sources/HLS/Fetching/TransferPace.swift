// SPDX-License-Identifier: Apache-2.0

/// How long a fetch may be slow before it is given up, and a function that reports waits.
public struct NetworkPatience: Sendable {
  /// The time in s over which the rate is averaged. A fetch is given up if the average is below
  /// `TransferPace.least`.
  public var seconds: Double
  /// Reports a fetch that takes longer than 2 s. It is called about ten times per second with the
  /// wait, and with nil when the wait ends. The calls are made on the fetching thread.
  public var onWait: @Sendable (FetchWait?) -> Void

  public init(
    seconds: Double = 30, onWait: @escaping @Sendable (FetchWait?) -> Void = { _ in }
  ) {
    self.seconds = seconds
    self.onWait = onWait
  }
}

/// A fetch that waits for a server.
public struct FetchWait: Sendable, Equatable {
  public var host: String
  /// Time since the start of the fetch, in s.
  public var seconds: Double
  /// Number of bytes that have arrived.
  public var bytes: Int

  public init(host: String, seconds: Double, bytes: Int) {
    (self.host, self.seconds, self.bytes) = (host, seconds, bytes)
  }
}

/// Determines whether a transfer is too slow.
public struct TransferPace: Sendable {
  /// The lowest acceptable average rate, in bytes/s.
  public static let least = 100.0
  /// The time over which the rate is averaged, in s.
  private let seconds: Double
  /// The progress at about 100 moments within `seconds` at most, oldest first.
  private var marks: [(time: Double, bytes: Int)] = [(0, 0)]

  public init(seconds: Double) { self.seconds = seconds }

  /// Returns whether the average rate over the last `seconds` is below `least`. Returns false if
  /// the transfer has not run for this time.
  ///
  /// - Parameters:
  ///   - bytes: number of bytes since the beginning.
  ///   - time: time since the beginning, in s. It must not decrease from call to call.
  public mutating func isTooSlow(bytes: Int, at time: Double) -> Bool {
    if time - (marks.last?.time ?? 0) >= seconds / 100 { marks.append((time, bytes)) }
    // Keep the newest mark that is at least `seconds` old as the first mark.
    while marks.count > 1, time - marks[1].time >= seconds { marks.removeFirst() }
    guard let first = marks.first, time - first.time >= seconds else { return false }
    return Double(bytes - first.bytes) < Self.least * (time - first.time)
  }
}
