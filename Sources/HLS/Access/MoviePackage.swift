// SPDX-License-Identifier: Apache-2.0

/// A `.movpkg` folder, in which Apple's players keep a downloaded presentation.
///
/// `boot.xml` lists the streams. The `StreamInfoBoot.xml` of each stream lists its segments. The
/// file names of the segments differ from those in the stream's playlist.
struct MoviePackage: Sendable, Equatable {
  struct Stream: Sendable, Equatable {
    /// Path of the stream's folder, relative to the package.
    var folder: String
    var playlist: MediaPlaylist
    /// File name of the original playlist in the stream's folder; nil if there is none.
    var originalName: String?
  }

  var streams: [Stream] = []

  /// Reads a package. Stops after `PlaylistLimits.renditions` streams, or when the sizes of their
  /// `StreamInfoBoot.xml` files reach `PlaylistLimits.bytes` in total.
  ///
  /// - Parameter read: returns the content of a file, given its path relative to the package; nil
  ///   if it cannot be read.
  /// - Returns: nil if `boot.xml` cannot be read, or if no stream lists a segment.
  init?(_ read: (String) -> [UInt8]?) {
    guard let boot = read("boot.xml") else { return nil }
    var (seen, bytes): (Set<String>, Int) = ([], 0)
    for tag in XMLTag.all(in: boot) where tag.name == "Stream" {
      guard seen.count < PlaylistLimits.renditions, bytes < PlaylistLimits.bytes else { break }
      guard let path = tag.attributes["Path"] ?? tag.attributes["ID"], seen.insert(path).inserted,
        let info = read(path + "/StreamInfoBoot.xml")
      else { continue }
      bytes += info.count
      var stream = Stream(folder: path, playlist: MediaPlaylist())
      stream.take(XMLTag.all(in: info))
      if let name = stream.originalName, let text = read(path + "/" + name) {
        stream.takeKeys(of: text)
      }
      if !stream.playlist.segments.isEmpty { streams.append(stream) }
    }
    if streams.isEmpty { return nil }
  }
}

extension MoviePackage.Stream {
  fileprivate mutating func take(_ tags: [XMLTag]) {
    var map: MediaMap?
    var isInitialisation = false
    for tag in tags {
      switch tag.name {
      case "MediaInitializationSegments": isInitialisation = true
      case "MediaSegments": isInitialisation = false
      case "PathToLocalCopy": originalName = tag.text
      default:
        guard let path = tag.attributes["PATH"],
          playlist.segments.count < PlaylistLimits.segments
        else { continue }
        if isInitialisation {
          map = map ?? MediaMap(uri: path)
        } else {
          let seconds = tag.attributes["Dur"].flatMap { PlaylistNumber.decimal($0[...]) } ?? 0
          playlist.segments.append(
            MediaSegment(
              uri: path, duration: min(max(seconds, 0), PlaylistLimits.seconds),
              sequence: playlist.segments.count))
        }
      }
    }
    for index in playlist.segments.indices { playlist.segments[index].map = map }
    playlist.targetDuration = (playlist.segments.map(\.duration).max() ?? 0).rounded(.up)
    (playlist.hasEnded, playlist.kind) = (true, .onDemand)
  }

  /// Copies the keys and the discontinuities from the original playlist. The keys show which
  /// segments are encrypted.
  fileprivate mutating func takeKeys(of text: [UInt8]) {
    guard case .media(let original)? = try? Playlist(text) else { return }
    for index in playlist.segments.indices where original.segments.indices.contains(index) {
      playlist.segments[index].keys = original.segments[index].keys
      playlist.segments[index].discontinuity = original.segments[index].discontinuity
    }
  }
}

/// A start tag of an XML file, with its attributes and the text that follows it.
struct XMLTag {
  var name: String
  var attributes: [String: String]
  var text: String

  /// Returns the start tags in the first `PlaylistLimits.bytes` bytes, in order.
  static func all(in bytes: [UInt8]) -> [XMLTag] {
    String(decoding: bytes.prefix(PlaylistLimits.bytes), as: UTF8.self).split(separator: "<")
      .compactMap { part in
        guard let first = part.first, first.isLetter, let end = part.firstIndex(of: ">") else {
          return nil
        }
        let text = String(part[part.index(after: end)...]).trimmed
        var inner = part[..<end]
        if inner.last == "/" { inner = inner.dropLast() }
        let name = inner.prefix { !$0.isWhitespace }
        return XMLTag(
          name: String(name), attributes: attributes(inner.dropFirst(name.count)),
          text: text.withoutEntities)
      }
  }

  private static func attributes(_ text: Substring) -> [String: String] {
    var found: [String: String] = [:]
    var rest = text
    while let equals = rest.firstIndex(of: "=") {
      let name = String(rest[..<equals]).trimmed
      let value = rest[equals...].dropFirst().drop { $0.isWhitespace }
      guard let quote = value.first, quote == "\"" || quote == "'",
        let end = value.dropFirst().firstIndex(of: quote)
      else { break }
      found[name] = String(value[..<end].dropFirst()).withoutEntities
      rest = value[end...].dropFirst()
    }
    return found
  }
}

extension String {
  fileprivate var trimmed: String {
    let start = drop { $0.isWhitespace }
    return String(start.reversed().drop { $0.isWhitespace }.reversed())
  }

  fileprivate var withoutEntities: String {
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")].reduce(self) {
      text, entity in
      text.split(separator: entity.0, omittingEmptySubsequences: false)
        .joined(separator: entity.1)
    }
  }
}
