// SPDX-License-Identifier: Apache-2.0

/// How long a fetch may stay too slow before it ends, and what is called while it waits.
public struct NetworkPatience: Sendable {
  /// A fetch is given up if it has averaged less than `TransferPace.least` for this time, in s.
  public var seconds: Double
  /// Called about ten times per second while a fetch takes longer than 2 s, with what it waits for,
  /// and with nil at its end. The call is made on the fetching thread.
  public var onWait: @Sendable (FetchWait?) -> Void

  public init(
    seconds: Double = 30, onWait: @escaping @Sendable (FetchWait?) -> Void = { _ in }
  ) {
    self.seconds = seconds
    self.onWait = onWait
  }
}

/// A server that a fetch waits for.
public struct FetchWait: Sendable, Equatable {
  public var host: String
  /// Time since the request, in s.
  public var seconds: Double
  /// Number of bytes that have arrived.
  public var bytes: Int

  public init(host: String, seconds: Double, bytes: Int) {
    (self.host, self.seconds, self.bytes) = (host, seconds, bytes)
  }
}

/// Determines whether a transfer is too slow: whether its average over a window is below the least
/// rate.
public struct TransferPace: Sendable {
  /// The least average rate, in bytes/s.
  public static let least = 100.0
  /// The window, in s.
  private let seconds: Double
  /// The state of the transfer at most about 100 times within the window, oldest first.
  private var marks: [(time: Double, bytes: Int)] = [(0, 0)]

  public init(seconds: Double) { self.seconds = seconds }

  /// Returns whether the average over the last `seconds` is below the least rate.
  ///
  /// - Parameters:
  ///   - bytes: number of bytes since the beginning.
  ///   - time: time since the beginning, in s. It must not decrease from call to call.
  public mutating func isTooSlow(bytes: Int, at time: Double) -> Bool {
    if time - (marks.last?.time ?? 0) >= seconds / 100 { marks.append((time, bytes)) }
    // The first mark is the newest one that is at least as old as the window.
    while marks.count > 1, time - marks[1].time >= seconds { marks.removeFirst() }
    guard let first = marks.first, time - first.time >= seconds else { return false }
    return Double(bytes - first.bytes) < Self.least * (time - first.time)
  }
}
