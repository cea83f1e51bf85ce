// SPDX-License-Identifier: Apache-2.0

/// The newest copy of a media playlist, and the schedule for reloading it (RFC 8216bis, section
/// 6.3.4). Times are in s on one monotonic clock.
public struct PlaylistFollower: Sendable {
  /// The newest copy of the playlist. Copies that seem to come from an outdated cache do not count.
  public private(set) var playlist: MediaPlaylist
  private var beat: PublicationBeat
  /// Time of the last change of `playlist`; at first, the time of creation.
  private var changed: Double
  /// Earliest time of the next load after a failure.
  private var notBefore = -Double.infinity

  public init(_ playlist: MediaPlaylist, at now: Double) {
    self.playlist = playlist
    changed = now
    beat = PublicationBeat(at: now, pause: Self.pause(playlist))
  }

  /// Applies a newly loaded copy of the playlist; `newer` is nil if the server reports no change.
  ///
  /// Ignores a copy that probably comes from an outdated cache: it is not marked as ended, and its
  /// last segment is 1 to 99 segments before the last segment of the known copy.
  public mutating func take(_ newer: MediaPlaylist?, at now: Double) {
    let isOlder = newer.map { $0.end < playlist.end && !$0.hasEnded && $0.end + 100 > playlist.end }
    guard let newer, newer != playlist, isOlder != true else {
      beat.foundNothing(at: now, pause: pause)
      return
    }
    beat.found(max(1, newer.end - playlist.end), at: now, pause: pause)
    playlist = newer
    changed = now
  }

  /// Adopts the reload schedule of a rendition whose segments appear at the same times. Call this
  /// method right after this playlist has been loaded.
  ///
  /// - Parameter ahead: how many segments later this playlist ends than the playlist of the other
  ///   rendition. If it is negative, the schedule does not change.
  public mutating func follow(_ other: PlaylistFollower, ahead: Int, at now: Double) {
    guard ahead >= 0 else { return }
    beat = other.beat.seen(ahead, at: now, pause: pause)
  }

  /// Records a failed load, which delays the next load.
  ///
  /// - Parameter wait: the delay, in s; nil for half of the expected time between segments, but at
  ///   least 0.5 s.
  public mutating func fail(at now: Double, wait: Double? = nil) {
    notBefore = now + (wait ?? max(pause / 2, 0.5))
  }

  /// Time of the next load; nil if the playlist has ended.
  public var nextLoad: Double? { playlist.hasEnded ? nil : max(beat.next, notBefore) }

  private var pause: Double { Self.pause(playlist) }

  /// Returns the expected time between new segments, in s: the target duration or the duration of
  /// the last segment, whichever is shorter, but at least 0.5 s.
  ///
  /// If only the target duration were used, slightly shorter segments would be found later and
  /// later.
  private static func pause(_ playlist: MediaPlaylist) -> Double {
    let last = playlist.segments.last?.duration ?? playlist.targetDuration
    return max(min(playlist.targetDuration, last), 0.5)
  }

  /// Returns how long a change of the playlist has been overdue, in s: the time since the last
  /// change minus 1.5 target durations, but at least 0. Returns 0 if the playlist has ended.
  public func staleness(at now: Double) -> Double {
    playlist.hasEnded ? 0 : max(0, now - changed - 1.5 * playlist.targetDuration)
  }

  /// Returns the segment with a media sequence number; nil if the playlist does not list it.
  public func segment(_ sequence: Int) -> MediaSegment? {
    let index = sequence - playlist.mediaSequence
    return playlist.segments.indices.contains(index) ? playlist.segments[index] : nil
  }

  /// The position at which to start playback: the media sequence number of a segment, and how many
  /// seconds of that segment to skip. Nothing is skipped unless the playlist states a precise
  /// start.
  ///
  /// If the playlist states a start, playback starts there. Otherwise, an event or an ended
  /// playlist is played from the beginning. Any other playlist is played from the segment that
  /// contains the time `holdBack` (by default, three target durations) before the live end.
  public var start: (sequence: Int, skipped: Double) {
    let first = playlist.mediaSequence
    guard !playlist.segments.isEmpty else { return (first, 0) }
    var offset = 0.0
    if !playlist.hasEnded, playlist.kind != .event {
      offset = playlist.duration - (playlist.holdBack ?? 3 * playlist.targetDuration)
    }
    if let wanted = playlist.start {
      offset = wanted.offset < 0 ? playlist.duration + wanted.offset : wanted.offset
    }
    offset = min(max(0, offset), playlist.duration)
    var begin = 0.0
    for (index, segment) in playlist.segments.enumerated() {
      let end = begin + segment.duration
      if offset < end || index == playlist.segments.count - 1 {
        let isPrecise = playlist.start?.isPrecise == true
        return (first + index, isPrecise ? min(offset - begin, segment.duration) : 0)
      }
      begin = end
    }
    return (first, 0)
  }
}

extension MediaPlaylist {
  /// The media sequence number of the last segment plus one; `mediaSequence` if there are no
  /// segments.
  public var end: Int { mediaSequence + segments.count }
}
