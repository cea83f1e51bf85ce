// SPDX-License-Identifier: Apache-2.0

/// A limit on slow fetches, and a function that receives the progress of long fetches.
public struct NetworkPatience: Sendable {
  /// Time over which the rate is averaged, in s. A fetch with an average below `TransferPace.least`
  /// is given up. So is a request that receives no data for half of this time.
  public var seconds: Double
  /// Receives the progress of a fetch that takes longer than 2 s. When the fetch ends, receives nil
  /// if the server has answered. Successive fetches without an answer count as one. Called on the
  /// fetching thread.
  public var onWait: @Sendable (FetchWait?) -> Void

  public init(
    seconds: Double = 30, onWait: @escaping @Sendable (FetchWait?) -> Void = { _ in }
  ) {
    self.seconds = seconds
    self.onWait = onWait
  }
}

/// The progress of a fetch that takes longer than 2 s.
public struct FetchWait: Sendable, Equatable {
  public var host: String
  /// Time since the start of the fetch, in s. Before the first byte arrives, this includes the time
  /// of the fetches just before it that received nothing.
  public var seconds: Double
  /// Number of bytes that have arrived.
  public var bytes: Int

  public init(host: String, seconds: Double, bytes: Int) {
    (self.host, self.seconds, self.bytes) = (host, seconds, bytes)
  }
}

/// The recent progress of a transfer, used to determine whether the transfer is too slow.
public struct TransferPace: Sendable {
  /// The lowest acceptable average rate, in bytes/s.
  public static let least = 100.0
  /// Time over which the rate is averaged, in s.
  private let seconds: Double
  /// The progress at up to about 100 moments of the last `seconds`, oldest first.
  private var marks: [(time: Double, bytes: Int)] = [(0, 0)]

  public init(seconds: Double) { self.seconds = seconds }

  /// Returns whether the average rate over the last `seconds` is below `least`. Returns false
  /// before this time has passed.
  ///
  /// - Parameters:
  ///   - bytes: the number of bytes that have arrived.
  ///   - time: the time since the transfer began, in s; must not decrease.
  public mutating func isTooSlow(bytes: Int, at time: Double) -> Bool {
    if time - (marks.last?.time ?? 0) >= seconds / 100 { marks.append((time, bytes)) }
    // Keep the newest mark that is at least `seconds` old as the first mark.
    while marks.count > 1, time - marks[1].time >= seconds { marks.removeFirst() }
    guard let first = marks.first, time - first.time >= seconds else { return false }
    return Double(bytes - first.bytes) < Self.least * (time - first.time)
  }
}
