// SPDX-License-Identifier: Apache-2.0

/// Some time of playing in which one tier was heard.
public struct HeardStretch: Sendable, Equatable {
  /// s.
  public var start: Double
  /// s.
  public var seconds: Double
  /// Nil: playing stood still.
  public var tier: Int?
}

/// What happened in a simulation. Times are s from opening the presentation.
public struct SimulationResult: Sendable {
  public struct Request: Sendable, Equatable {
    public var time: Double
    public var segment: Int
    public var tier: Int
  }

  /// From the first sound on, without gaps.
  public internal(set) var heard: [HeardStretch] = []
  public internal(set) var requests: [Request] = []
  /// s of sound that were buffered, over time.
  public internal(set) var buffer: [(time: Double, seconds: Double)] = []
  /// Nil: nothing was heard.
  public internal(set) var startSeconds: Double?
  public internal(set) var fetchedBits = 0.0
  /// Of these, what was never heard: abandoned downloads, replacements that came to nothing.
  public internal(set) var wastedBits = 0.0
}
