// SPDX-License-Identifier: Apache-2.0

/// The presentation times of a rendition's segments. The times remain valid when the playlist is
/// updated.
///
/// Presentation time is common to all renditions. It is 0 at the beginning of an ended
/// presentation, or at the position at which playback of a live one first starts.
struct RenditionTimeline {
  private(set) var follower: PlaylistFollower
  let address: ResourceAddress
  var validator: FetchValidator?
  /// Start of the playlist's first segment, in s of presentation time.
  private(set) var origin: Double

  var playlist: MediaPlaylist { follower.playlist }

  init(_ playlist: MediaPlaylist, address: ResourceAddress, origin: Double, at now: Double) {
    follower = PlaylistFollower(playlist, at: now)
    self.address = address
    self.origin = origin
  }

  /// Applies a newer copy of the playlist; `newer` is nil if the server reports no change.
  mutating func take(_ newer: MediaPlaylist?, at now: Double) {
    let old = follower.playlist
    follower.take(newer, at: now)
    let gone = follower.playlist.mediaSequence - old.mediaSequence
    guard gone > 0 else { return }
    if let date = firstDate(of: old), let newer = firstDate(of: follower.playlist) {
      origin += date.offset + newer.date.seconds - date.date.seconds - newer.offset
      return
    }
    let known = old.segments.prefix(gone).reduce(0) { $0 + $1.duration }
    // Segments that were added and removed between two loads are assumed to have had the average
    // duration of the segments in the old copy.
    let usual = old.segments.isEmpty ? 0 : old.duration / Double(old.segments.count)
    origin += known + Double(max(0, gone - old.segments.count)) * usual
  }

  /// Aligns this timeline with another rendition's timeline. Call this method right after this
  /// timeline's playlist has been loaded.
  ///
  /// Also adopts the other rendition's reload schedule, unless this timeline has no segments or,
  /// once aligned, ends at least half a segment before the other one.
  mutating func align(to other: RenditionTimeline, at now: Double) {
    origin = other.origin(of: playlist)
    guard let usual = playlist.segments.last?.duration, usual > 0 else { return }
    // The quotient is huge if the last segment is very short.
    let ahead = Int(max(-1, min(1e6, (end - other.end) / usual)).rounded())
    follower.follow(other.follower, ahead: ahead, at: now)
  }

  mutating func move(by seconds: Double) { origin += seconds }

  mutating func fail(at now: Double, wait: Double?) { follower.fail(at: now, wait: wait) }

  /// End of the last segment, in s of presentation time.
  var end: Double { origin + playlist.duration }

  /// Returns the segment to play at a presentation time, with its start in s; nil if there is none.
  ///
  /// This is the first segment of which more than 0.25 s lies after `time`; for a segment shorter
  /// than 0.5 s, more than half of it.
  func segment(at time: Double) -> (segment: MediaSegment, start: Double)? {
    var start = origin
    for segment in playlist.segments {
      let end = start + segment.duration
      if end - time > min(0.5 * segment.duration, 0.25) { return (segment, start) }
      start = end
    }
    return nil
  }

  /// Returns the start of the segment with a media sequence number, in s of presentation time; nil
  /// if the playlist does not list it.
  func start(of sequence: Int) -> Double? {
    let index = sequence - playlist.mediaSequence
    guard playlist.segments.indices.contains(index) else { return nil }
    return origin + playlist.segments.prefix(index).reduce(0) { $0 + $1.duration }
  }

  /// Returns the start of another rendition's playlist on this timeline, in s of presentation time.
  /// The first rule that applies determines it:
  /// - If both playlists have ended and at least one of them is not cut off, it is 0.
  /// - If both playlists have a program date, it follows from the first date of each.
  /// - If the playlists overlap, it follows from the media sequence numbers.
  /// - Otherwise, both playlists are assumed to end at the same time.
  func origin(of other: MediaPlaylist) -> Double {
    if playlist.hasEnded, other.hasEnded, !(playlist.isCutOff && other.isCutOff) { return 0 }
    if let own = firstDate(of: playlist), let theirs = firstDate(of: other) {
      return origin + own.offset + (theirs.date.seconds - own.date.seconds) - theirs.offset
    }
    if let start = start(of: other.mediaSequence) { return start }
    let index = playlist.mediaSequence - other.mediaSequence
    if other.segments.indices.contains(index) {
      return origin - other.segments.prefix(index).reduce(0) { $0 + $1.duration }
    }
    return end - other.duration
  }

  private func firstDate(of playlist: MediaPlaylist) -> (date: ProgramDate, offset: Double)? {
    var offset = 0.0
    for segment in playlist.segments {
      if let date = segment.programDate { return (date, offset) }
      offset += segment.duration
    }
    return nil
  }
}
