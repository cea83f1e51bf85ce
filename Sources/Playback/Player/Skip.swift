// SPDX-License-Identifier: Apache-2.0

/// Where a skip by a number of seconds goes. All times are in seconds.
struct Skip: Equatable {
  /// A skip forward goes no further than this time before the end.
  static let margin = 1.0

  /// The position to go to; nil for a skip forward from a position at most `margin` before the end.
  let target: Double?
  /// Whether the end shortened the skip.
  let isShortened: Bool

  /// - Parameters:
  ///   - step: negative for a skip backward.
  ///   - duration: the duration of the source; nil if it is unknown.
  init(from position: Double, by step: Double, duration: Double?) {
    let wanted = position + step
    guard step > 0, let duration, wanted > duration - Self.margin else {
      (target, isShortened) = (wanted, false)
      return
    }
    let last = duration - Self.margin
    (target, isShortened) = (last > position ? last : nil, true)
  }
}
