// SPDX-License-Identifier: Apache-2.0

/// Tracks a media playlist over time and schedules its reloads (RFC 8216bis, section 6.3.4). All
/// times are in s, on one monotonic clock.
public struct PlaylistFollower: Sendable {
  /// The newest copy.
  public private(set) var playlist: MediaPlaylist
  private var beat: PublicationBeat
  /// When the playlist last changed.
  private var changed: Double
  /// Earliest time of the next attempt after a failed load.
  private var notBefore = -Double.infinity

  public init(_ playlist: MediaPlaylist, at now: Double) {
    self.playlist = playlist
    changed = now
    beat = PublicationBeat(at: now, pause: Self.pause(playlist))
  }

  /// Applies a newly loaded copy; nil if the server reports that nothing has changed.
  ///
  /// Ignores an outdated copy from a cache: one that ends up to 99 segments before the known copy
  /// and is not marked as ended.
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

  /// Adopts the schedule of another rendition whose segments appear together with these. Call it
  /// right after this playlist was loaded; `ahead` is the number of segments that it has more.
  public mutating func follow(_ other: PlaylistFollower, ahead: Int, at now: Double) {
    guard ahead >= 0 else { return }
    beat = other.beat.seen(ahead, at: now, pause: pause)
  }

  /// Reports that a load has failed.
  public mutating func fail(at now: Double) { notBefore = now + max(pause / 2, 0.5) }

  /// When to load the playlist again; nil if it has ended.
  public var nextLoad: Double? { playlist.hasEnded ? nil : max(beat.next, notBefore) }

  private var pause: Double { Self.pause(playlist) }

  /// Time from one segment to the next, in s: the duration of the last segment, or the target
  /// duration of the standard if that is shorter. If segments are a little shorter than the target,
  /// waiting for the target duration would find each segment later than the one before.
  private static func pause(_ playlist: MediaPlaylist) -> Double {
    let last = playlist.segments.last?.duration ?? playlist.targetDuration
    return max(min(playlist.targetDuration, last), 0.5)
  }

  /// Time without a new segment beyond 1.5 target durations, in s; 0 if the playlist has ended.
  public func staleness(at now: Double) -> Double {
    playlist.hasEnded ? 0 : max(0, now - changed - 1.5 * playlist.targetDuration)
  }

  /// Returns the segment with this media sequence number; nil if the playlist does not contain it.
  public func segment(_ sequence: Int) -> MediaSegment? {
    let index = sequence - playlist.mediaSequence
    return playlist.segments.indices.contains(index) ? playlist.segments[index] : nil
  }

  /// Where to start playing: at the start that the playlist states, at its beginning, or far enough
  /// before the live end that late segments do not interrupt the sound.
  ///
  /// - Returns: the segment's media sequence number, and how many s of it to leave out.
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
  /// The media sequence number after the last segment.
  public var end: Int { mediaSequence + segments.count }
}
