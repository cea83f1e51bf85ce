// SPDX-License-Identifier: Apache-2.0

/// How far ahead of the present the head pose is predicted.
public enum PosePrediction: Sendable, Equatable {
  /// The pose is predicted for the time at which the sound is heard, but at most this many
  /// nanoseconds ahead.
  case measured(atMost: Int64)
  /// The pose is predicted this many nanoseconds ahead, regardless of the latency.
  case fixed(Int64)

  /// The default: the pose is predicted for the time at which the sound is heard, but at most
  /// 200 ms ahead.
  public static var automatic: PosePrediction {
    @_noLocks get { .measured(atMost: 200_000_000) }
  }
  public static var off: PosePrediction {
    @_noLocks get { .fixed(0) }
  }

  /// Returns the look-ahead, in nanoseconds, for a pose whose time is `lead` nanoseconds ahead of
  /// the present.
  @_noLocks
  func lookAhead(_ lead: Int64) -> Int64 {
    switch self {
    case .measured(let limit): max(0, min(lead, limit))
    case .fixed(let lookAhead): lookAhead
    }
  }

  /// The prediction as a number: the limit, or the bitwise complement of a fixed look-ahead.
  /// A negative limit or look-ahead counts as 0.
  var code: Int64 {
    switch self {
    case .measured(let limit): max(0, limit)
    case .fixed(let lookAhead): ~max(0, lookAhead)
    }
  }

  @_noLocks
  init(code: Int64) {
    self = code < 0 ? .fixed(~code) : .measured(atMost: code)
  }
}
