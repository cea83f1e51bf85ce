// SPDX-License-Identifier: Apache-2.0

/// The reason why a presentation cannot be opened, or why one of its playlists cannot be loaded.
public enum PresentationError: Error, Sendable, Equatable, CustomStringConvertible {
  case fetch(address: String, FetchError)
  case playlist(address: String, PlaylistError)
  /// An address is invalid, or playlists are nested too deeply. An address that an access rule
  /// forbids causes `fetch` instead.
  case refused(AccessRefusal)
  /// The playlist or folder at `address` contains no sound that can be played and that the settings
  /// allow.
  case nothing(address: String, reason: String)
  case interrupted

  public var description: String {
    switch self {
    case .fetch(let address, .refused(let refusal)):
      refusal.address == address ? refusal.description : "\(address): \(refusal)"
    case .fetch(let address, let error): "cannot read '\(address)': \(error)"
    case .playlist(let address, let error): "'\(address)' is not a valid playlist: \(error)"
    case .refused(let refusal): refusal.description
    case .nothing(let address, let reason): "'\(address)' contains nothing to play: \(reason)"
    case .interrupted: "interrupted"
    }
  }
}

/// A loader that fetches playlists and resolves addresses in them.
public struct PlaylistLoader: Sendable {
  /// A playlist, its address after redirects, and a validator for later requests.
  public struct Loaded: Sendable, Equatable {
    public var playlist: Playlist
    public var address: ResourceAddress
    public var validator: FetchValidator?
  }

  let fetcher: any ResourceFetcher
  /// The local folder of a downloaded presentation; nil for a server.
  public let folder: PresentationFolder?

  public init(_ fetcher: any ResourceFetcher, folder: PresentationFolder?) {
    self.fetcher = fetcher
    self.folder = folder
  }

  /// Fetches and parses a playlist.
  ///
  /// A media playlist in a file counts as ended even without `EXT-X-ENDLIST`. If a server sends a
  /// delta update, the complete playlist is requested instead.
  ///
  /// - Parameters:
  ///   - variables: the variables of the multivariant playlist.
  ///   - validator: the validator of the known copy; nil if there is no copy.
  ///   - silence: the time without a new byte after which the load fails, in s.
  ///   - goesOn: return false to cancel.
  /// - Returns: the playlist; nil if the known copy is up to date.
  /// - Throws: `.fetch` if fetching failed, `.playlist` if the text is not a valid playlist, or
  ///   `.interrupted` after a cancellation.
  public func load(
    _ address: ResourceAddress, variables: PlaylistVariables = PlaylistVariables(),
    validator: FetchValidator? = nil, silence: Double = .infinity, goesOn: () -> Bool = { true }
  ) throws(PresentationError) -> Loaded? {
    let loaded = try request(address, variables, validator, silence, goesOn)
    guard var loaded, case .media(var playlist) = loaded.playlist else { return loaded }
    if case .file = loaded.address {
      playlist.endHere()
    } else if playlist.skippedSegments > 0 {
      // A delta update extends an earlier copy, but the loader does not store copies.
      let whole = try request(address.withoutDeltaRequest, variables, nil, silence, goesOn)
      guard let whole, case .media(let media) = whole.playlist else { return whole }
      (loaded, playlist) = (whole, media)
    }
    if playlist.skippedSegments > 0 {
      playlist.notes.append(
        "the playlist '\(loaded.address.name)' is only a delta update; segments left out at its "
          + "start: \(playlist.skippedSegments)")
    }
    loaded.playlist = .media(playlist)
    return loaded
  }

  private func request(
    _ address: ResourceAddress, _ variables: PlaylistVariables, _ validator: FetchValidator?,
    _ silence: Double, _ goesOn: () -> Bool
  ) throws(PresentationError) -> Loaded? {
    let resource: FetchedResource
    var newest = FetchTiming()
    var isSilent = false
    do throws(FetchError) {
      resource = try fetcher.fetch(
        FetchRequest(address, limit: PlaylistLimits.bytes, validator: validator),
        goesOn: { timing in
          if timing.bytes > newest.bytes { newest = timing }
          isSilent = timing.seconds - newest.seconds > silence
          return !isSilent && goesOn()
        })
    } catch {
      switch error {
      case .abandoned where isSilent:
        throw .fetch(address: address.description, .timedOut(seconds: silence))
      case .interrupted, .abandoned: throw .interrupted
      default: throw .fetch(address: address.description, error)
      }
    }
    if resource.isUnchanged { return nil }
    do throws(PlaylistError) {
      let playlist = try Playlist(
        resource.bytes, imported: variables, query: resource.address.query)
      return Loaded(
        playlist: playlist, address: resource.address, validator: resource.validator)
    } catch { throw .playlist(address: address.description, error) }
  }

  /// Resolves a URI in a playlist. If the playlist is local, a matching file in the folder has
  /// priority.
  ///
  /// - Throws: `.refused` if the URI is invalid.
  public func address(
    of uri: String, in playlist: ResourceAddress
  ) throws(PresentationError) -> ResourceAddress {
    if case .file(let path) = playlist, let file = folder?.file(for: uri, from: path) {
      return .file(file)
    }
    guard let address = playlist.resolved(uri) else {
      throw .refused(AccessRefusal(uri, "it is not a valid address"))
    }
    return address
  }
}

extension MediaPlaylist {
  /// Marks a playlist from a file as ended and cut off, unless it has an `EXT-X-ENDLIST`: nothing
  /// will be added to the file. Also removes the preferred start, which was meant for the live
  /// presentation.
  fileprivate mutating func endHere() {
    guard !hasEnded else { return }
    (hasEnded, isCutOff, start) = (true, true, nil)
  }
}

extension ResourceAddress {
  /// The address without the query parameters that request a delta update or a future state of a
  /// live playlist (RFC 8216bis, section 6.2.5).
  fileprivate var withoutDeltaRequest: ResourceAddress {
    guard case .network(let text) = self, let mark = text.firstIndex(of: "?") else { return self }
    let query = text[mark...].dropFirst().prefix { $0 != "#" }
    let kept = query.split(separator: "&").filter { part in
      !["_HLS_skip", "_HLS_msn", "_HLS_part"].contains(part.prefix { $0 != "=" })
    }
    let base = text[..<mark]
    return .network(kept.isEmpty ? String(base) : base + "?" + kept.joined(separator: "&"))
  }
}
