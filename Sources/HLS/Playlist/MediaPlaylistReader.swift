// SPDX-License-Identifier: Apache-2.0

/// A parser for the lines of a media playlist. Call a `take` method for each tag and URI, then
/// `finished`.
struct MediaPlaylistReader {
  /// The tags that this parser reads. Only media playlists may contain them.
  static let tags: Set = [
    "EXTINF", "EXT-X-TARGETDURATION", "EXT-X-MEDIA-SEQUENCE", "EXT-X-DISCONTINUITY-SEQUENCE",
    "EXT-X-ENDLIST", "EXT-X-PLAYLIST-TYPE", "EXT-X-I-FRAMES-ONLY", "EXT-X-BYTERANGE",
    "EXT-X-DISCONTINUITY", "EXT-X-KEY", "EXT-X-MAP", "EXT-X-PROGRAM-DATE-TIME", "EXT-X-GAP",
    "EXT-X-BITRATE", "EXT-X-SERVER-CONTROL", "EXT-X-SKIP",
  ]

  var playlist = MediaPlaylist()

  // Values for the next segment only.
  private var duration: Double?
  private var title: String?
  private var range: (length: Int, offset: Int?)?
  private var isGap = false
  private var programDate: ProgramDate?
  // Values for the following segments, until another tag changes them.
  private var discontinuity = 0
  private var map: MediaMap?
  private var keys: [SegmentKey] = []
  private var bitRate: Int?

  mutating func take(
    tag: String, _ value: Substring, _ variables: PlaylistVariables
  ) throws(PlaylistError) {
    switch tag {
    case "EXTINF": try takeDuration(value)
    case "EXT-X-TARGETDURATION": playlist.targetDuration = try Self.seconds(value)
    case "EXT-X-MEDIA-SEQUENCE": playlist.mediaSequence = try Self.count(value)
    case "EXT-X-DISCONTINUITY-SEQUENCE": playlist.discontinuitySequence = try Self.count(value)
    case "EXT-X-ENDLIST": playlist.hasEnded = true
    case "EXT-X-PLAYLIST-TYPE": playlist.kind = MediaPlaylist.Kind(rawValue: String(value))
    case "EXT-X-I-FRAMES-ONLY": playlist.hasOnlyKeyFrames = true
    case "EXT-X-SERVER-CONTROL":
      playlist.holdBack = try AttributeList(value, variables)
        .lenient(&playlist.notes) { (list) throws(PlaylistError) in try list.number("HOLD-BACK") }
    case "EXT-X-SKIP":
      let count = try AttributeList(value, variables).integer("SKIPPED-SEGMENTS")
      playlist.skippedSegments = max(0, count ?? 0)
    case "EXT-X-BYTERANGE": range = try Self.range(value)
    case "EXT-X-DISCONTINUITY": discontinuity += 1
    case "EXT-X-GAP": isGap = true
    case "EXT-X-BITRATE":
      bitRate = PlaylistNumber.integer(value).flatMap { $0 < 1 << 40 ? $0 * 1000 : nil }
    case "EXT-X-PROGRAM-DATE-TIME": programDate = ProgramDate(value)
    case "EXT-X-MAP": try takeMap(AttributeList(value, variables))
    case "EXT-X-KEY": try takeKey(AttributeList(value, variables))
    default: return
    }
  }

  private mutating func takeDuration(_ value: Substring) throws(PlaylistError) {
    let comma = value.firstIndex(of: ",") ?? value.endIndex
    var text = value[..<comma]
    while text.last == " " { text.removeLast() }
    duration = try Self.seconds(text)
    let rest = value[comma...].dropFirst()
    title = rest.isEmpty ? nil : String(rest)
  }

  private mutating func takeMap(_ attributes: AttributeList) throws(PlaylistError) {
    map = MediaMap(uri: try attributes.required("URI"), keys: keys)
    guard let text = attributes.text("BYTERANGE") else { return }
    let range = try Self.range(text[...])
    map?.range = ByteRange(offset: range.offset ?? 0, length: range.length)
  }

  private mutating func takeKey(_ attributes: AttributeList) throws(PlaylistError) {
    guard let method = attributes.word("METHOD") else {
      throw PlaylistError("the METHOD of EXT-X-KEY is missing or quoted")
    }
    if method == "NONE" {
      keys = []
      return
    }
    var vector: [UInt8]?
    if let text = attributes.word("IV") {
      vector = PlaylistNumber.initialisationVector(text[...])
      if vector == nil {
        throw PlaylistError(
          "IV is '\(text.prefix(40))'; it must be 0x followed by 1 to 32 hexadecimal digits")
      }
    }
    let key = SegmentKey(
      method: method == "AES-128" ? .aes128 : .other(method), uri: try attributes.required("URI"),
      initialisationVector: vector, format: attributes.text("KEYFORMAT") ?? "identity")
    // A key applies until another key of the same format or `METHOD=NONE` follows.
    if let same = keys.firstIndex(where: { $0.format == key.format }) {
      keys[same] = key
    } else {
      keys.append(key)
    }
  }

  // MARK: Segments

  mutating func take(uri: String) throws(PlaylistError) {
    guard let duration else { throw PlaylistError("'\(uri.prefix(60))' has no EXTINF") }
    guard playlist.segments.count < PlaylistLimits.segments else {
      throw PlaylistError("the playlist has more than \(PlaylistLimits.segments) segments")
    }
    // Sequence and discontinuity numbers start at 0 here; `finished` adds `mediaSequence` and
    // `discontinuitySequence`.
    var segment = MediaSegment(uri: uri, duration: duration, sequence: playlist.segments.count)
    segment.title = title
    segment.discontinuity = discontinuity
    segment.range = try place(range, in: uri)
    segment.map = map
    segment.keys = keys
    segment.isGap = isGap
    segment.programDate = programDate
    segment.bitRate = segment.range == nil ? bitRate : nil
    playlist.segments.append(segment)
    (self.duration, title, range, isGap, programDate) = (nil, nil, nil, false, nil)
  }

  /// Returns the byte range of a segment; nil if the segment has none. A range without an offset
  /// begins where the range of the previous segment ends.
  ///
  /// - Throws: an error if the range has no offset and the previous segment has another URI or no
  ///   range.
  private func place(
    _ range: (length: Int, offset: Int?)?, in uri: String
  ) throws(PlaylistError) -> ByteRange? {
    guard let range else { return nil }
    if let offset = range.offset { return ByteRange(offset: offset, length: range.length) }
    guard let last = playlist.segments.last, last.uri == uri, let before = last.range else {
      throw PlaylistError("EXT-X-BYTERANGE has no offset and does not follow a range of '\(uri)'")
    }
    return ByteRange(offset: before.end, length: range.length)
  }

  func finished() throws(PlaylistError) -> MediaPlaylist {
    var playlist = playlist
    let longest = playlist.segments.map(\.duration).max() ?? 0
    // Some downloaders leave out the target duration.
    if playlist.targetDuration == 0 { playlist.targetDuration = longest.rounded(.up) }
    let room = Int.max - PlaylistLimits.segments
    guard playlist.mediaSequence < room, playlist.discontinuitySequence < room,
      playlist.skippedSegments < room - playlist.mediaSequence
    else {
      throw PlaylistError("its sequence numbers are too large")
    }
    playlist.mediaSequence += playlist.skippedSegments
    for index in playlist.segments.indices {
      playlist.segments[index].sequence += playlist.mediaSequence
      playlist.segments[index].discontinuity += playlist.discontinuitySequence
    }
    return playlist
  }

  // MARK: Values

  private static func seconds(_ text: Substring) throws(PlaylistError) -> Double {
    guard let number = PlaylistNumber.decimal(text), (0...PlaylistLimits.seconds).contains(number)
    else { throw PlaylistError("'\(text.prefix(40))' is not a duration from 0 to 86400 seconds") }
    return number
  }

  private static func count(_ text: Substring) throws(PlaylistError) -> Int {
    guard let number = PlaylistNumber.integer(text) else {
      throw PlaylistError("'\(text.prefix(40))' is not a valid whole number")
    }
    return number
  }

  /// Parses a byte range `LENGTH[@OFFSET]`, in bytes.
  private static func range(
    _ text: Substring
  ) throws(PlaylistError) -> (length: Int, offset: Int?) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
      .map(PlaylistNumber.integer)
    guard parts.count <= 2, let length = parts[0], length > 0, length < 1 << 40 else {
      throw PlaylistError("'\(text.prefix(40))' is not a valid byte range such as 1000@0")
    }
    if parts.count == 1 { return (length, nil) }
    guard let offset = parts[1], offset < 1 << 50 else {
      throw PlaylistError("'\(text.prefix(40))' is not a valid byte range such as 1000@0")
    }
    return (length, offset)
  }
}
