// SPDX-License-Identifier: Apache-2.0

/// The playlists of a presentation.
public enum Presentation: Sendable, Equatable {
  /// A multivariant playlist and its address.
  case multivariant(MultivariantPlaylist, ResourceAddress)
  /// Media playlists without a multivariant playlist.
  case media([PlaylistLoader.Loaded])

  /// Maximum nesting depth of multivariant playlists.
  public static let deepest = 3
}

extension PlaylistLoader {
  /// Opens the multivariant or media playlist at an address. If the playlist only wraps another
  /// multivariant playlist, opens the inner one instead.
  ///
  /// - Throws: the error of a playlist that cannot be loaded, `.refused` if playlists are nested
  ///   too deeply or an address is invalid, or `.interrupted` if `goesOn` returned false.
  public func open(
    _ address: ResourceAddress, goesOn: () -> Bool = { true }
  ) throws(PresentationError) -> Presentation {
    var address = address
    for _ in 0..<Presentation.deepest {
      guard let loaded = try load(address, goesOn: goesOn) else { break }
      switch loaded.playlist {
      case .media: return .media([loaded])
      case .multivariant(let playlist):
        // Some servers wrap the actual multivariant playlist in another one.
        guard let only = playlist.variants.first, playlist.variants.count == 1,
          playlist.renditions.isEmpty, try isMultivariant(only.uri, in: loaded.address, goesOn)
        else { return .multivariant(steered(playlist, at: loaded.address, goesOn), loaded.address) }
        address = try self.address(of: only.uri, in: loaded.address)
      }
    }
    throw .refused(
      AccessRefusal(
        address.description, "playlists may be nested at most \(Presentation.deepest) levels deep"))
  }

  private func isMultivariant(
    _ uri: String, in playlist: ResourceAddress, _ goesOn: () -> Bool
  ) throws(PresentationError) -> Bool {
    let loaded = try load(try address(of: uri, in: playlist), goesOn: goesOn)
    if case .multivariant = loaded?.playlist { return true }
    return false
  }

  /// Opens a folder. Uses the first of these that the folder contains:
  /// - the streams of a `.movpkg` folder,
  /// - the multivariant playlist with the most variants (at least one),
  /// - all media playlists with segments,
  /// - numbered fragments.
  ///
  /// A playlist whose files are not in the folder is used only if there is nothing else. If a media
  /// playlist has a `mediaSequence` above 0, it probably lists only the newest segments of a live
  /// presentation. Each media playlist is then replaced by numbered fragments that include all of
  /// its segments and at least one other, if there are any.
  ///
  /// - Throws: `.interrupted` if `goesOn` returned false. If there is nothing to open, the first
  ///   error from loading a playlist, or `.nothing` if there was no such error.
  public func open(
    folder: PresentationFolder, goesOn: () -> Bool = { true }
  ) throws(PresentationError) -> Presentation {
    var media: [Loaded] = []
    var multivariant: (MultivariantPlaylist, ResourceAddress)?
    var problem: PresentationError?
    for path in folder.playlists {
      do throws(PresentationError) {
        guard let loaded = try load(.file(path), goesOn: goesOn) else { continue }
        switch loaded.playlist {
        case .media: media.append(loaded)
        case .multivariant(let playlist):
          let isRicher = playlist.variants.count > (multivariant?.0.variants.count ?? 0)
          if isRicher { multivariant = (playlist, loaded.address) }
        }
      } catch {
        if error == .interrupted { throw error }
        problem = problem ?? error
      }
    }
    let packaged = packaged(folder)
    if !packaged.isEmpty { return .media(packaged) }
    if let multivariant, hasFiles(multivariant.0, at: multivariant.1, folder) {
      return .multivariant(multivariant.0, multivariant.1)
    }
    media.removeAll { loaded in
      if case .media(let playlist) = loaded.playlist { playlist.segments.isEmpty } else { true }
    }
    let usable = media.filter { !files(of: $0, folder).isEmpty }
    let isTail = usable.contains { loaded in
      if case .media(let playlist) = loaded.playlist { playlist.mediaSequence > 0 } else { false }
    }
    if !usable.isEmpty, !isTail { return .media(usable) }
    let fragments = try fragments(in: folder, goesOn: goesOn)
    if !usable.isEmpty {
      return .media(
        usable.map { loaded in
          let own = files(of: loaded, folder)
          return fragments.first { files(of: $0, folder).isStrictSuperset(of: own) } ?? loaded
        })
    }
    if !fragments.isEmpty { return .media(fragments) }
    if let multivariant { return .multivariant(multivariant.0, multivariant.1) }
    if !media.isEmpty { return .media(media) }
    if let problem { throw problem }
    throw .nothing(
      address: folder.path,
      reason: "it contains no usable playlist and no numbered fragments; give the path of a sound "
        + "file in it, or download the presentation again")
  }

  /// Whether the folder contains at least one of the media playlists of a multivariant playlist;
  /// always true if the multivariant playlist comes from a server.
  private func hasFiles(
    _ playlist: MultivariantPlaylist, at address: ResourceAddress, _ folder: PresentationFolder
  ) -> Bool {
    guard case .file(let path) = address else { return true }
    let uris = playlist.variants.map(\.uri) + playlist.renditions.compactMap(\.uri)
    return uris.contains { folder.file(for: $0, from: path) != nil }
  }

  /// Returns the absolute paths of a local media playlist's segments, except those that are not in
  /// the folder; empty for any other playlist.
  private func files(of loaded: Loaded, _ folder: PresentationFolder) -> Set<String> {
    guard case .media(let playlist) = loaded.playlist, case .file(let path) = loaded.address else {
      return []
    }
    return Set(playlist.segments.compactMap { folder.file(for: $0.uri, from: path) })
  }
}
