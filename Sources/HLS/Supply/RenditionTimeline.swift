// SPDX-License-Identifier: Apache-2.0

/// Where the segments of one rendition lie in the presentation's time, also while its playlist
/// moves on.
struct RenditionTimeline {
  private(set) var follower: PlaylistFollower
  let address: ResourceAddress
  var validator: FetchValidator?
  /// s, where the first segment of the playlist begins.
  private(set) var origin: Double

  var playlist: MediaPlaylist { follower.playlist }

  init(_ playlist: MediaPlaylist, address: ResourceAddress, origin: Double, at now: Double) {
    follower = PlaylistFollower(playlist, at: now)
    self.address = address
    self.origin = origin
  }

  /// Takes a newer copy of the playlist; nil where the server has none.
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
    // What came and went between two looks was as long as segments are.
    let usual = old.segments.isEmpty ? 0 : old.duration / Double(old.segments.count)
    origin += known + Double(max(0, gone - old.segments.count)) * usual
  }

  /// Lays it over another rendition's, which has been followed more closely; it was loaded just
  /// now.
  mutating func align(to other: RenditionTimeline, at now: Double) {
    origin = other.origin(of: playlist)
    guard let usual = playlist.segments.last?.duration, usual > 0 else { return }
    let ahead = Int(((end - other.end) / usual).rounded())
    follower.follow(other.follower, ahead: ahead, at: now)
  }

  mutating func move(by seconds: Double) { origin += seconds }

  mutating func fail(at now: Double) { follower.fail(at: now) }

  /// s, where the last segment ends.
  var end: Double { origin + playlist.duration }

  /// The segment to be heard at a moment, and where it begins; nil where it has not come yet. What
  /// ends soon after the moment is passed over.
  func segment(at time: Double) -> (segment: MediaSegment, start: Double)? {
    var start = origin
    for segment in playlist.segments {
      let end = start + segment.duration
      if end - time > min(0.5 * segment.duration, 0.25) { return (segment, start) }
      start = end
    }
    return nil
  }

  /// Where a segment begins, s.
  func start(of sequence: Int) -> Double? {
    let index = sequence - playlist.mediaSequence
    guard playlist.segments.indices.contains(index) else { return nil }
    return origin + playlist.segments.prefix(index).reduce(0) { $0 + $1.duration }
  }

  /// Where another rendition's playlist begins in the time of this one: by the time of day where
  /// both tell it, by the numbers where they overlap, else by the live end.
  func origin(of other: MediaPlaylist) -> Double {
    if playlist.hasEnded, other.hasEnded { return 0 }
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
