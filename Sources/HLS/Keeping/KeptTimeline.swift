// SPDX-License-Identifier: Apache-2.0

/// When a segment is, as far as its playlist tells.
struct KeptTime: Equatable {
  /// Seconds.
  var duration: Double
  var discontinuity: Int
  var date: ProgramDate?

  /// Nil where that can be in no playlist.
  init?(_ segment: MediaSegment) {
    self.init(
      number: segment.sequence, duration: segment.duration, discontinuity: segment.discontinuity,
      date: segment.programDate)
  }

  init?(_ segment: KeptSegment) {
    self.init(
      number: segment.number, duration: segment.duration, discontinuity: segment.discontinuity,
      date: segment.date.map { ProgramDate(seconds: $0) })
  }

  private init?(number: Int, duration: Double, discontinuity: Int, date: ProgramDate?) {
    guard number >= 0, discontinuity >= 0, (0...PlaylistLimits.seconds).contains(duration) else {
      return nil
    }
    self.duration = duration
    self.discontinuity = discontinuity
    self.date = date
  }
}

/// The segments of a rendition that are kept, and when those are that are not.
struct KeptTimeline {
  /// By number.
  private(set) var segments: [Int: KeptSegment] = [:]
  /// What playlists told, by number.
  private var told: [Int: KeptTime] = [:]

  /// More missing segments than these in a row are not written as gaps one by one.
  static let mostGaps = 10_000

  var first: Int? { segments.keys.min() }
  var isFull: Bool { segments.count >= PlaylistLimits.segments }

  init(_ kept: [KeptSegment] = []) { for segment in kept { segments[segment.number] = segment } }

  mutating func take(_ segment: KeptSegment) { segments[segment.number] = segment }
  mutating func remove(_ number: Int) { segments[number] = nil }

  mutating func follow(_ playlist: MediaPlaylist) {
    if told.count > 2 * PlaylistLimits.segments { told = [:] }
    for segment in playlist.segments { told[segment.sequence] = KeptTime(segment) }
  }

  /// The gaps in a playlist of an earlier run tell how long they are.
  mutating func followGaps(ofWritten bytes: [UInt8]) {
    guard case .media(let playlist)? = try? Playlist(bytes) else { return }
    for segment in playlist.segments where segment.isGap {
      guard let number = Int(segment.uri.prefix { $0 != "." }), number >= 0 else { continue }
      told[number] = KeptTime(segment)
    }
  }

  /// bit/s of what is kept: of the richest segment, and in the mean.
  var bitRates: (peak: Double, mean: Double) {
    var (peak, bits, seconds) = (0.0, 0.0, 0.0)
    for segment in segments.values where segment.duration > 0 {
      let own = Double(segment.file.bytes) * 8
      peak = max(peak, own / segment.duration)
      bits += own
      seconds += segment.duration
    }
    return (peak, seconds > 0 ? bits / seconds : 0)
  }

  /// The playlist of what is kept, in order, with a gap for each segment that is missing between.
  ///
  /// It ends where the last kept segment ends, and says so: to whom it is given nothing more comes.
  ///
  /// - Parameter start: the number it begins with, where that is not long before its first segment.
  func playlist(from start: Int) -> MediaPlaylist {
    let kept = segments.values.sorted { $0.number < $1.number }
    var playlist = MediaPlaylist()
    (playlist.hasEnded, playlist.kind) = (true, .onDemand)
    guard let first = kept.first else { return playlist }
    let isNear = start <= first.number && first.number - start <= Self.mostGaps
    var next = isNear ? start : first.number
    var room = PlaylistLimits.segments - kept.count
    var count = DiscontinuityCount()
    playlist.mediaSequence = next
    for segment in kept {
      let missing = segment.number - next
      let isWritten = missing <= min(Self.mostGaps, room)
      if isWritten, missing > 0 {
        room -= missing
        for number in next..<segment.number {
          playlist.segments.append(gap(number, before: segment, &count))
        }
      }
      playlist.segments.append(entry(segment, &count, isApart: !isWritten))
      next = segment.number + 1
    }
    playlist.discontinuitySequence = playlist.segments[0].discontinuity
    playlist.targetDuration = (playlist.segments.map(\.duration).max() ?? 0).rounded(.up)
    let hasGaps = playlist.segments.count > kept.count
    playlist.version = hasGaps ? 8 : kept.contains { $0.map != nil } ? 6 : 3
    return playlist
  }

  private func entry(
    _ segment: KeptSegment, _ count: inout DiscontinuityCount, isApart: Bool
  ) -> MediaSegment {
    var entry = MediaSegment(
      uri: segment.file.name, duration: segment.duration, sequence: segment.number)
    entry.discontinuity = count.next(segment.discontinuity, isApart: isApart)
    entry.programDate = segment.date.map { ProgramDate(seconds: $0) }
    entry.map = segment.map.map { MediaMap(uri: $0.name) }
    return entry
  }

  /// What no playlist told of is taken to be like the segment behind it.
  private func gap(
    _ number: Int, before segment: KeptSegment, _ count: inout DiscontinuityCount
  ) -> MediaSegment {
    let time = told[number]
    var entry = MediaSegment(
      uri: PresentationKeeper.fileName(number, "gap"), duration: time?.duration ?? segment.duration,
      sequence: number)
    entry.discontinuity = count.next(
      time?.discontinuity ?? count.told ?? segment.discontinuity, isApart: false)
    entry.programDate = time?.date
    entry.isGap = true
    return entry
  }
}

/// Numbers of discontinuities that grow by no more than one from a segment to the next, as those in
/// a sound playlist do.
private struct DiscontinuityCount {
  private(set) var told: Int?
  private var written = 0

  init() {}

  /// - Parameter isApart: segments between are left out.
  mutating func next(_ number: Int, isApart: Bool) -> Int {
    if told == nil { written = min(number, 1 << 50) }
    if isApart || number != told ?? number { written += 1 }
    told = number
    return written
  }
}
