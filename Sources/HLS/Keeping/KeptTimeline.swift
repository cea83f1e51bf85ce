// SPDX-License-Identifier: Apache-2.0

/// The duration, discontinuity number and date of a segment, according to its playlist.
struct KeptTime: Equatable {
  /// Duration in s.
  var duration: Double
  var discontinuity: Int
  var date: ProgramDate?

  /// Takes the values from a segment. Returns nil if the segment's number, duration or
  /// discontinuity number is out of range.
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

/// The kept segments of a rendition, and the times of the segments that its playlists have listed.
struct KeptTimeline {
  /// The kept segments by number.
  private(set) var segments: [Int: KeptSegment] = [:]
  /// Times by segment number, from the presentation's playlists. The times of gaps can also come
  /// from the playlist that an earlier `PresentationKeeper` wrote.
  private var told: [Int: KeptTime] = [:]

  /// Maximum number of consecutive missing segments that are written as gaps. Longer series are
  /// omitted.
  static let mostGaps = 10_000

  var first: Int? { segments.keys.min() }
  var last: Int? { segments.keys.max() }
  /// Whether at least one segment is kept, and none is missing between the first and the last.
  var hasNoGaps: Bool {
    guard let first, let last else { return false }
    return last - first + 1 == segments.count
  }
  /// Duration of the longest kept segment, in s; 0 if no segment is kept.
  var longestSegment: Double { segments.values.map(\.duration).max() ?? 0 }
  var isFull: Bool { segments.count >= PlaylistLimits.segments }

  init(_ kept: [KeptSegment] = []) { for segment in kept { segments[segment.number] = segment } }

  mutating func take(_ segment: KeptSegment) { segments[segment.number] = segment }
  mutating func remove(_ number: Int) { segments[number] = nil }

  mutating func follow(_ playlist: MediaPlaylist) {
    if told.count > 2 * PlaylistLimits.segments { told = [:] }
    for segment in playlist.segments { told[segment.sequence] = KeptTime(segment) }
  }

  /// Records the times of the gaps in a playlist that an earlier `PresentationKeeper` wrote.
  /// Ignores an invalid playlist.
  mutating func followGaps(ofWritten bytes: [UInt8]) {
    guard case .media(let playlist)? = try? Playlist(bytes) else { return }
    for segment in playlist.segments where segment.isGap {
      guard let number = Int(segment.uri.prefix { $0 != "." }), number >= 0 else { continue }
      told[number] = KeptTime(segment)
    }
  }

  /// Highest and average bit rate of the kept segments, in bit/s; 0 if unknown.
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

  /// Returns the playlist of the kept segments, with gaps for missing segments before and between
  /// them. A series of missing segments is omitted if it is longer than `mostGaps`, or if the
  /// playlist would exceed `PlaylistLimits.segments`. The playlist is marked as ended.
  ///
  /// - Parameter start: the number of the first segment to list. If it is above the first kept
  ///   number, or more than `mostGaps` below that number, the playlist starts with the first kept
  ///   segment.
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

  /// Returns the time from the start of segment `start` to the end of the last kept segment, in s.
  /// A missing segment is assumed to be as long as the longest kept segment.
  func seconds(from start: Int) -> Double {
    let kept = segments.values.reduce(0) { $0 + $1.duration }
    let missing = (last ?? start - 1) - start + 1 - segments.count
    return kept + Double(max(0, missing)) * longestSegment
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

  /// Returns the playlist entry that marks a missing segment as a gap. If the segment's duration is
  /// unknown, the duration of the next kept segment is used.
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

/// A counter for discontinuity numbers that increase by at most one from segment to segment.
private struct DiscontinuityCount {
  private(set) var told: Int?
  private var written = 0

  init() {}

  /// Returns the discontinuity number to write for the next segment.
  ///
  /// - Parameters:
  ///   - number: the discontinuity number in the segment's own playlist.
  ///   - isApart: whether segments are omitted before this segment.
  mutating func next(_ number: Int, isApart: Bool) -> Int {
    if told == nil { written = min(number, 1 << 50) }
    if isApart || number != told ?? number { written += 1 }
    told = number
    return written
  }
}
