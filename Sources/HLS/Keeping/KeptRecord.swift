// SPDX-License-Identifier: Apache-2.0

private import FoundationEssentials
private import System

/// The record of a kept presentation: `kept.json` in its folder.
struct KeptRecord: Codable {
  static let file = "kept.json"
  static let currentVersion = 1

  var version = Self.currentVersion
  /// Address of the presentation, without the query, fragment, user name and password.
  var source: String
  /// The subfolders and their renditions, in the order in which they were created.
  var renditions: [Entry] = []

  struct Entry: Codable {
    var folder: String
    var rendition: KeptRendition
  }

  init(source: String) { self.source = source }

  /// Reads a record. Returns nil if it has another version or cannot be decoded. Drops entries with
  /// an implausible or repeated folder name.
  init?(_ bytes: [UInt8]) {
    guard let read = try? JSONDecoder().decode(Self.self, from: Data(bytes)),
      read.version == Self.currentVersion
    else { return nil }
    self = read
    var seen: Set<String> = []
    renditions.removeAll { !KeptFolder.isOwnName($0.folder) || !seen.insert($0.folder).inserted }
  }
}

extension Encodable {
  /// The value as JSON with sorted keys; empty if it cannot be encoded.
  var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map(Array.init) ?? []
  }
}

/// The record of a kept rendition: `kept.json` in its folder.
struct KeptSegments: Codable {
  var version = KeptRecord.currentVersion
  var segments: [KeptSegment]

  init(_ segments: [KeptSegment]) { self.segments = segments }

  /// Reads a record. Returns nil if it has another version or cannot be decoded. Drops implausible
  /// entries, because the record may be damaged or forged.
  init?(_ bytes: [UInt8]) {
    guard let read = try? JSONDecoder().decode(Self.self, from: Data(bytes)),
      read.version == KeptRecord.currentVersion
    else { return nil }
    segments = read.segments.filter(\.isPlausible)
  }
}

/// The name, size in bytes and checksum of a file.
struct KeptFile: Codable, Equatable {
  var name: String
  var bytes: Int
  /// CRC-32 checksum.
  var sum: UInt32

  init(name: String, _ content: [UInt8]) {
    self.name = name
    bytes = content.count
    sum = CRC32.of(content)
  }

  func fits(_ content: [UInt8]) -> Bool { content.count == bytes && CRC32.of(content) == sum }
}

/// An entry of `KeptSegments`: a kept segment and its files.
struct KeptSegment: Codable, Equatable {
  var number: Int
  /// Duration in s.
  var duration: Double
  var discontinuity: Int
  /// Program date, in s since 1970; nil if unknown.
  var date: Double?
  var file: KeptFile
  var map: KeptFile?
  /// `MediaSegment.uri`, without query and fragment.
  var origin: String
  /// The segment's byte range, as `length@offset`; nil if there is none.
  var range: String?

  init(_ segment: MediaSegment, file: KeptFile, map: KeptFile?) {
    number = segment.sequence
    duration = segment.duration
    discontinuity = segment.discontinuity
    date = segment.programDate?.seconds
    self.file = file
    self.map = map
    origin = segment.uri.withoutQuery
    range = segment.range.map { "\($0.length)@\($0.offset)" }
  }

  func isOf(_ segment: MediaSegment) -> Bool {
    origin == segment.uri.withoutQuery && number == segment.sequence
      && range == segment.range.map { "\($0.length)@\($0.offset)" }
  }

  fileprivate var isPlausible: Bool {
    let dates = -1e11...1e12
    return KeptTime(self) != nil && file.isPlausible && map?.isPlausible ?? true
      && number < Int.max - PlaylistLimits.segments && date.map(dates.contains) ?? true
  }
}

extension KeptFile {
  fileprivate var isPlausible: Bool {
    KeptFolder.isOwnName(name) && name != KeptRecord.file && name != PresentationKeeper.playlistName
      && (1...PresentationKeeper.mostSegmentBytes).contains(bytes)
  }
}
