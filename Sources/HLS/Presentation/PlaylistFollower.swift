// SPDX-License-Identifier: Apache-2.0

/// A media playlist over time: what is known of it, and when it is to be loaded again (RFC 8216bis,
/// section 6.3.4). All times are seconds of one steady clock.
public struct PlaylistFollower: Sendable {
  /// As it was loaded last.
  public private(set) var playlist: MediaPlaylist
  private var beat: PublicationBeat
  /// When it changed last.
  private var changed: Double
  /// It could not be loaded: not before this.
  private var notBefore = -Double.infinity

  public init(_ playlist: MediaPlaylist, at now: Double) {
    self.playlist = playlist
    changed = now
    beat = PublicationBeat(at: now, pause: Self.pause(playlist))
  }

  /// Takes a newer copy; nil where the server says that nothing has changed.
  ///
  /// A copy whose end lies before the last one's is an older one, from a cache: it changes nothing.
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

  /// Takes over what is known of another rendition, whose segments appear with these; this one was
  /// loaded just now, and has so many more.
  public mutating func follow(_ other: PlaylistFollower, ahead: Int, at now: Double) {
    guard ahead >= 0 else { return }
    beat = other.beat.seen(ahead, at: now, pause: pause)
  }

  /// It could not be loaded.
  public mutating func fail(at now: Double) { notBefore = now + max(pause / 2, 0.5) }

  /// When to load it again; nil where it has ended.
  public var nextLoad: Double? { playlist.hasEnded ? nil : max(beat.next, notBefore) }

  private var pause: Double { Self.pause(playlist) }

  /// s from one segment to the next: the last one's length, if that is less than the target
  /// duration which the standard names. Where segments are a little shorter than the target, who
  /// waits for the target comes later to each segment than to the one before.
  private static func pause(_ playlist: MediaPlaylist) -> Double {
    let last = playlist.segments.last?.duration ?? playlist.targetDuration
    return max(min(playlist.targetDuration, last), 0.5)
  }

  /// Seconds for which the server has given nothing new, beyond what may be expected.
  public func staleness(at now: Double) -> Double {
    playlist.hasEnded ? 0 : max(0, now - changed - 1.5 * playlist.targetDuration)
  }

  /// The segment of a number; nil where it is gone, or has not come yet.
  public func segment(_ sequence: Int) -> MediaSegment? {
    let index = sequence - playlist.mediaSequence
    return playlist.segments.indices.contains(index) ? playlist.segments[index] : nil
  }

  /// Where playing begins: what the playlist says, the beginning, or so far before the live end
  /// that what comes late does not stop the sound.
  ///
  /// - Returns: the segment's number, and seconds of it to be left out.
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
  /// The number after the last segment's.
  public var end: Int { mediaSequence + segments.count }
}
