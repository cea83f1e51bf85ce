// SPDX-License-Identifier: Apache-2.0

private import Glibc
private import System

/// A folder with a downloaded presentation. `file(for:from:)` finds the files that its playlists
/// refer to.
///
/// Playlists may still contain the server's addresses, so URIs are also matched by the ends of
/// their paths.
public struct PresentationFolder: Sendable {
  /// The absolute path without symbolic links.
  public let path: String
  /// Absolute paths by file name.
  private var files: [String: [String]] = [:]
  /// Absolute paths of the files whose names contain a query, by the name without the query.
  private var named: [String: [String]] = [:]
  /// Absolute paths of the files that were found, in no particular order.
  public var paths: [String] { files.values.flatMap(\.self) }
  /// Absolute paths of the files that are not numbered fragments of a series.
  public var unnumberedPaths: [String] {
    let fragments = Set(FragmentSeries.all(in: paths).flatMap { $0.fragments.map(\.path) })
    return paths.filter { !fragments.contains($0) }
  }
  /// Absolute paths of the playlists that were found, sorted by the number of their parent folders
  /// and then by path.
  public private(set) var playlists: [String] = []

  public static let deepest = 4
  private let depth: Int
  static let mostFiles = 100_000

  /// Lists the files of a folder and its subfolders, at most `mostFiles`. Does not follow symbolic
  /// links in the folder. Returns nil if the folder cannot be listed.
  ///
  /// - Parameter depth: the number of subfolder levels to search.
  public init?(_ path: String, depth: Int = Self.deepest) {
    self.depth = depth
    guard let real = SystemFile.resolved(path) else { return nil }
    self.path = real
    var count = 0
    guard look(in: real, depth: 0, &count) else { return nil }
    playlists.sort { ($0.count(of: "/"), $0) < ($1.count(of: "/"), $1) }
  }

  /// Adds the files of a folder and its subfolders. Returns false if the folder cannot be listed.
  @discardableResult
  private mutating func look(in folder: String, depth: Int, _ count: inout Int) -> Bool {
    guard let names = SystemFile.names(in: folder) else { return false }
    var folders: [String] = []
    for name in names where count < Self.mostFiles {
      var status = stat()
      let file = folder + "/" + name
      guard lstat(file, &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: folders.append(file)
      case S_IFREG:
        count += 1
        files[name, default: []].append(file)
        let plain = name.withoutSavedQuery
        if plain != name { named[plain, default: []].append(file) }
        if plain.lowercased().hasSuffix(".m3u8") || plain.lowercased().hasSuffix(".m3u") {
          playlists.append(file)
        }
      default: break
      }
    }
    guard depth < self.depth else { return true }
    for folder in folders.sorted() { look(in: folder, depth: depth + 1, &count) }
    return true
  }

  /// Returns the path of the file that a URI in a playlist refers to; nil if no file matches, if
  /// several match equally well, or if the only match appears to belong to another rendition. Does
  /// not check the access rules.
  ///
  /// - Parameters:
  ///   - uri: as written in the playlist.
  ///   - playlist: the absolute path of the playlist.
  public func file(for uri: String, from playlist: String) -> String? {
    let spellings = Self.spellings(uri)
    if !uri.contains("://") {
      let folder = playlist.lastIndex(of: "/").map { playlist[..<$0] } ?? ""
      for spelling in spellings {
        let path = spelling.hasPrefix("/") ? spelling : "\(folder)/\(spelling)"
        if access(path, F_OK) == 0 { return path }
      }
      // `wget` keeps the query of an address in the file name. Of several such files, use the last
      // by name.
      for spelling in spellings where spelling == spelling.withoutQuery {
        let path = spelling.hasPrefix("/") ? spelling : "\(folder)/\(spelling)"
        guard let real = SystemFile.resolved(String(path.parentFolder)) else { continue }
        let own = named[path.lastPart]?.filter { $0.parentFolder == real }.sorted() ?? []
        if let newest = own.last { return newest }
      }
    }
    for spelling in spellings {
      if let match = match(spelling, from: playlist) { return match }
    }
    return nil
  }

  /// Whether `playlist` is a multivariant playlist that refers to `file`.
  ///
  /// - Parameters:
  ///   - file: an absolute path without symbolic links.
  ///   - playlist: an absolute path.
  public func names(_ file: String, in playlist: String) -> Bool {
    guard case .multivariant(let presentation)? = contents(of: playlist) else { return false }
    let uris = presentation.variants.map(\.uri) + presentation.renditions.compactMap(\.uri)
    return uris.contains { uri in
      self.file(for: uri, from: playlist).flatMap(SystemFile.resolved) == file
    }
  }

  private func contents(of playlist: String) -> Playlist? {
    let request = FetchRequest(.file(playlist), limit: PlaylistLimits.bytes)
    guard let resource = try? FolderFetcher(self).fetch(request, goesOn: { _ in true }) else {
      return nil
    }
    return try? Playlist(resource.bytes)
  }

  /// Returns the paths that downloaders make from a URI: with or without the query, unchanged or
  /// percent-decoded.
  private static func spellings(_ uri: String) -> [String] {
    var spellings = [uri, uri.withoutQuery]
    for text in spellings {
      if let plain = text.percentDecoded { spellings.append(plain) }
    }
    var seen: Set<String> = []
    return spellings.filter { !$0.isEmpty && seen.insert($0).inserted }
  }

  /// Returns the file whose path shares the most trailing components with the URI. Returns nil if
  /// there is none, if several files match equally well, or if only the name matches and the file
  /// appears to belong to another rendition.
  private func match(_ uri: String, from playlist: String) -> String? {
    let parts = uri.split(separator: "/").map(String.init)
    guard let name = parts.last, let candidates = files[name] ?? named[name] else { return nil }
    let lengths = candidates.map { path in
      let own = path.split(separator: "/").reversed()
      let plain = [Substring(path.lastPart.withoutSavedQuery)] + own.dropFirst()
      return max(
        zip(own, parts.reversed()).prefix { $0 == $1 }.count,
        zip(plain, parts.reversed()).prefix { $0 == $1 }.count)
    }
    guard let best = lengths.max(), lengths.count(where: { $0 == best }) == 1,
      let found = lengths.firstIndex(of: best).map({ candidates[$0] }),
      best > 1 || !isOthers(found, than: playlist)
    else { return nil }
    return found
  }

  /// Whether `file` appears to belong to another playlist. This is so if a playlist in the folder
  /// of `file` lists a segment with that file name, and `playlist` is in another folder, which
  /// contains at least one of its own segments.
  private func isOthers(_ file: String, than playlist: String) -> Bool {
    guard let real = SystemFile.resolved(playlist) else { return false }
    let (own, folder) = (real.parentFolder, file.parentFolder)
    guard own != folder, segmentNames(of: playlist).contains(where: { has($0, in: own) }) else {
      return false
    }
    return playlists.contains { other in
      other.parentFolder == folder && segmentNames(of: other).contains(file.lastPart)
    }
  }

  private func has(_ name: String, in folder: Substring) -> Bool {
    files[name]?.contains { $0.parentFolder == folder } ?? false
  }

  /// Returns the possible file names of a media playlist's segments; empty if `playlist` cannot be
  /// read as a media playlist.
  private func segmentNames(of playlist: String) -> Set<String> {
    guard case .media(let media)? = contents(of: playlist) else { return [] }
    return Set(media.segments.flatMap { Self.spellings($0.uri).map(\.lastPart) })
  }
}

extension String {
  fileprivate func count(of character: Character) -> Int { count { $0 == character } }

  fileprivate var parentFolder: Substring { self[..<(lastIndex(of: "/") ?? startIndex)] }

  fileprivate var lastPart: String {
    String(self[(lastIndex(of: "/").map(index(after:)) ?? startIndex)...])
  }
}
