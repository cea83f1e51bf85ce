// SPDX-License-Identifier: Apache-2.0

/// When the next segment of a live playlist appears: an interval that every load narrows, and that
/// moves on by a segment's length with every segment. All times are seconds of one steady clock.
///
/// Every second by which a segment is seen late is missing from the buffer, for as long as it
/// plays.
struct PublicationBeat: Sendable {
  /// s. Before this the next segment was not there, nor can be expected.
  private var earliest: Double
  /// s. It should be there from this moment on.
  private var latest: Double
  private var lastLoad: Double
  /// It was looked for before `latest`.
  private var hasLookedEarly = false
  /// s after `latest` at which it is looked for again.
  private var patience = Self.leastPatience

  private static let leastPatience = 0.25
  /// s. Who knows it this well does not look earlier.
  private static let narrow = 0.4
  /// Of a segment: by how much less is known with every one, since clocks differ.
  private static let drift = 0.01

  /// - Parameter pause: s between two segments.
  init(at now: Double, pause: Double) {
    (earliest, latest, lastLoad) = (now, now + pause, now)
  }

  /// When to look for it.
  var next: Double {
    let isKnown = hasLookedEarly || latest - earliest < Self.narrow
    return isKnown ? latest : (earliest + latest) / 2
  }

  /// So many new segments are there.
  mutating func found(_ count: Int, at now: Double, pause: Double) {
    let older = Double(max(count, 1) - 1) * pause
    // The newest one appeared since the last load, and when it was expected to.
    var (low, high) = (max(lastLoad, earliest) + older, min(now, latest + older))
    if low > high { (low, high) = (min(lastLoad + older, now), now) }
    earliest = low + (1 - Self.drift) * pause
    latest = high + pause
    if !hasLookedEarly { patience = max(Self.leastPatience, 0.9 * patience) }
    (lastLoad, hasLookedEarly) = (now, false)
  }

  /// Another rendition, which appears with this one, was looked at and is so many segments ahead.
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
