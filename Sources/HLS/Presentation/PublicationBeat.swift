// SPDX-License-Identifier: Apache-2.0

/// The time interval in which the next segment of a live playlist is expected to appear. Times are
/// in s on one monotonic clock.
///
/// The interval should be narrow: a segment that is found 1 s late makes the buffer 1 s shorter.
struct PublicationBeat: Sendable {
  /// Start of the interval.
  private var earliest: Double
  /// End of the interval.
  private var latest: Double
  private var lastLoad: Double
  /// Whether `foundNothing` has been called since the last call of `found`.
  private var hasLookedEarly = false
  /// If a load at the end of the interval finds nothing new, the next load follows after this
  /// delay, in s.
  private var patience = Self.leastPatience

  private static let leastPatience = 0.25
  /// If the interval is shorter than this, in s, the next load takes place at its end instead of in
  /// its middle.
  private static let narrow = 0.4
  /// Clock drift to allow for, as a fraction of a segment's duration.
  private static let drift = 0.01

  /// Starts with the interval from `now` to `now + pause`.
  ///
  /// - Parameter pause: the time between segments, in s.
  init(at now: Double, pause: Double) {
    (earliest, latest, lastLoad) = (now, now + pause, now)
  }

  /// Time of the next load.
  var next: Double {
    let isKnown = hasLookedEarly || latest - earliest < Self.narrow
    return isKnown ? latest : (earliest + latest) / 2
  }

  /// Records that a load found `count` new segments.
  mutating func found(_ count: Int, at now: Double, pause: Double) {
    let older = Double(max(count, 1) - 1) * pause
    // Normally, the first of the new segments appeared within the interval and after the last load.
    // The last one appeared `older` s later.
    var (low, high) = (max(lastLoad, earliest) + older, min(now, latest + older))
    if low > high { (low, high) = (min(lastLoad + older, now), now) }
    earliest = low + (1 - Self.drift) * pause
    latest = high + pause
    if !hasLookedEarly { patience = max(Self.leastPatience, 0.9 * patience) }
    (lastLoad, hasLookedEarly) = (now, false)
  }

  /// Returns the interval for another rendition whose segments appear at the same times. Its
  /// playlist must just have been loaded.
  ///
  /// - Parameter ahead: how many segments later that playlist ends than the playlist to which this
  ///   interval belongs.
  func seen(_ ahead: Int, at now: Double, pause: Double) -> PublicationBeat {
    var beat = self
    if ahead > 0 {
      beat.found(ahead, at: now, pause: pause)
    } else {
      beat.earliest = min(max(beat.earliest, now), beat.latest)
      beat.lastLoad = now
    }
    return beat
  }

  mutating func foundNothing(at now: Double, pause: Double) {
    (lastLoad, hasLookedEarly) = (now, true)
    earliest = max(earliest, now)
    guard now >= latest - 0.01 else { return }
    latest = now + patience
    patience = min(2 * patience, max(pause / 2, 0.5))
  }
}
