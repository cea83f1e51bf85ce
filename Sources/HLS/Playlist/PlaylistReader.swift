// SPDX-License-Identifier: Apache-2.0

/// A parser for the lines of a media or multivariant playlist. Call `take` for each line, then
/// `playlist`.
struct PlaylistReader {
  private let imported: PlaylistVariables
  private let query: [String: String]
  private var variables = PlaylistVariables()
  private var media = MediaPlaylistReader()
  private var multivariant = MultivariantPlaylist()
  /// The variant to which the next URI line belongs; nil if the line belongs to a segment.
  private var variant: Variant?
  /// Notes for the listener, about missing or invalid values.
  private var notes: [String] = []
  /// The first tag so far that is allowed only in media playlists; nil if there is none.
  private var mediaTag: String?
  /// The first tag so far that is allowed only in multivariant playlists; nil if there is none.
  private var multivariantTag: String?

  init(imported: PlaylistVariables, query: [String: String]) {
    self.imported = imported
    self.query = query
  }

  mutating func take(_ line: Substring) throws(PlaylistError) {
    guard line.first == "#" else { return try take(uri: line) }
    guard line.hasPrefix("#EXT") else { return }
    let colon = line.firstIndex(of: ":")
    let name = String(line[line.index(after: line.startIndex)..<(colon ?? line.endIndex)])
    let value = colon.map { line[$0...].dropFirst() } ?? ""
    try take(tag: name, value)
  }

  private mutating func take(uri text: Substring) throws(PlaylistError) {
    let uri = try variables.substituted(text)
    if var variant {
      guard multivariant.variants.count < PlaylistLimits.variants else {
        throw PlaylistError("the playlist has more than \(PlaylistLimits.variants) variants")
      }
      variant.uri = uri
      multivariant.variants.append(variant)
      self.variant = nil
    } else {
      try media.take(uri: uri)
    }
  }

  private mutating func take(tag: String, _ value: Substring) throws(PlaylistError) {
    switch tag {
    case "EXTM3U": return
    case "EXT-X-VERSION":
      guard let version = PlaylistNumber.integer(value) else {
        return note(
          "EXT-X-VERSION is '\(value.prefix(40))', not a valid whole number; it is ignored")
      }
      media.playlist.version = version
      multivariant.version = version
    case "EXT-X-INDEPENDENT-SEGMENTS":
      media.playlist.areSegmentsIndependent = true
      multivariant.areSegmentsIndependent = true
    case "EXT-X-START":
      let attributes = try AttributeList(value, variables)
      guard
        let offset = attributes.lenient(
          &notes,
          { (list) throws(PlaylistError) in
            guard let offset = try list.number("TIME-OFFSET") else {
              throw PlaylistError("EXT-X-START has no unquoted TIME-OFFSET")
            }
            return offset
          })
      else { return }
      let start = PlaylistStart(offset: offset, isPrecise: attributes.flag("PRECISE"))
      media.playlist.start = start
      multivariant.start = start
    case "EXT-X-DEFINE":
      try variables.define(AttributeList(value, variables), imported: imported, query: query)
    case "EXT-X-MEDIA", "EXT-X-STREAM-INF", "EXT-X-I-FRAME-STREAM-INF", "EXT-X-SESSION-KEY",
      "EXT-X-SESSION-DATA", "EXT-X-CONTENT-STEERING":
      multivariantTag = multivariantTag ?? tag
      try takeMultivariant(tag, value)
    default:
      if MediaPlaylistReader.tags.contains(tag) { mediaTag = mediaTag ?? tag }
      try media.take(tag: tag, value, variables)
    }
  }

  private mutating func takeMultivariant(_ tag: String, _ value: Substring) throws(PlaylistError) {
    if tag == "EXT-X-STREAM-INF" {
      variant = Variant(try AttributeList(value, variables), &notes)
    }
    if tag == "EXT-X-CONTENT-STEERING" {
      let attributes = try AttributeList(value, variables)
      multivariant.firstPathway = attributes.text("PATHWAY-ID")
      multivariant.steeringServer = attributes.text("SERVER-URI")
    }
    guard tag == "EXT-X-MEDIA" else { return }
    let attributes = try AttributeList(value, variables)
    guard attributes.word("TYPE") == "AUDIO" else { return }
    guard multivariant.renditions.count < PlaylistLimits.renditions else {
      throw PlaylistError(
        "the playlist has more than \(PlaylistLimits.renditions) audio renditions")
    }
    multivariant.renditions.append(try RenditionEntry(attributes, &notes))
  }

  private mutating func note(_ text: String) { notes.append(text) }

  /// Returns the playlist. Call this method after the last line.
  ///
  /// - Throws: an error if tags of media and multivariant playlists are mixed, if a multivariant
  ///   playlist has neither variants nor audio renditions, or if a media playlist's sequence
  ///   numbers are too large.
  func playlist() throws(PlaylistError) -> Playlist {
    if let mediaTag, let multivariantTag {
      throw PlaylistError("it has both \(mediaTag) and \(multivariantTag)")
    }
    guard multivariantTag != nil else {
      var playlist = try media.finished()
      playlist.notes = notes + playlist.notes
      return .media(playlist)
    }
    guard !multivariant.variants.isEmpty || !multivariant.renditions.isEmpty else {
      throw PlaylistError("it has neither variants nor audio renditions")
    }
    var playlist = multivariant
    playlist.variables = variables
    playlist.notes = notes
    return .multivariant(playlist)
  }
}

extension Variant {
  /// Reads the attributes of a variant, whose URI follows on a later line. Ignores invalid values.
  /// Adds a note if a bit rate or the score is invalid, or if there is no bit rate.
  init(_ attributes: AttributeList, _ notes: inout [String]) {
    self.init(uri: "", bandwidth: Self.bitRate("BANDWIDTH", attributes, &notes) ?? 0)
    averageBandwidth = Self.bitRate("AVERAGE-BANDWIDTH", attributes, &notes)
    if bandwidth == 0, averageBandwidth == nil, attributes.word("BANDWIDTH") == nil {
      notes.append(
        "the BANDWIDTH of EXT-X-STREAM-INF is missing or quoted; the bit rate is estimated")
    }
    codecs = (attributes.text("CODECS") ?? "").split(separator: ",").map { codec in
      String(codec.filter { $0 != " " })
    }
    audioGroup = attributes.text("AUDIO")
    score = attributes.lenient(&notes) { (list) throws(PlaylistError) in try list.number("SCORE") }
    stableID = attributes.text("STABLE-VARIANT-ID")
    name = attributes.text("NAME")
    pathway = attributes.text("PATHWAY-ID")
    let size = (attributes.word("RESOLUTION") ?? "").split(separator: "x")
      .compactMap(PlaylistNumber.integer)
    if size.count == 2 { resolution = Resolution(width: size[0], height: size[1]) }
  }

  /// Returns the integer part of a bit rate, in bit/s; nil if the attribute is missing, quoted or
  /// not a number. Adds a note if an unquoted value is not a valid whole number.
  private static func bitRate(
    _ name: String, _ attributes: AttributeList, _ notes: inout [String]
  ) -> Int? {
    guard let text = attributes.word(name) else { return nil }
    if let rate = PlaylistNumber.integer(text[...]) { return rate }
    let whole = text.prefix { $0 != "." }
    let rate = PlaylistNumber.decimal(text[...]) == nil ? nil : PlaylistNumber.integer(whole)
    notes.append(
      "\(name) is '\(text.prefix(40))', not a valid whole number; "
        + (rate == nil ? "it is ignored" : "its integer part is used"))
    return rate
  }
}

extension RenditionEntry {
  /// Reads the attributes of an audio rendition. Ignores an invalid CHANNELS or SAMPLE-RATE value
  /// and adds a note.
  ///
  /// - Throws: an error if GROUP-ID or NAME is missing or not quoted.
  init(_ attributes: AttributeList, _ notes: inout [String]) throws(PlaylistError) {
    self.init(
      group: try attributes.required("GROUP-ID"), name: try attributes.required("NAME"),
      uri: attributes.text("URI"))
    language = attributes.text("LANGUAGE")
    isDefault = attributes.flag("DEFAULT")
    isAutoselected = isDefault || attributes.flag("AUTOSELECT")
    if let text = attributes.text("CHANNELS") {
      channels = AudioChannels(text)
      if channels == nil {
        notes.append(
          "CHANNELS is '\(text.prefix(40))', whose first parameter is not a count from 1 to 1024; "
            + "it is ignored")
      }
    }
    characteristics = (attributes.text("CHARACTERISTICS") ?? "").split(separator: ",")
      .map(String.init)
    stableID = attributes.text("STABLE-RENDITION-ID")
    sampleRate = attributes.lenient(&notes) { (list) throws(PlaylistError) in
      try list.integer("SAMPLE-RATE")
    }
  }
}
