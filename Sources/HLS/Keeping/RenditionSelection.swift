// SPDX-License-Identifier: Apache-2.0

/// The user's choice of renditions to download.
public struct RenditionSelection: Sendable {
  public enum Wish: Sendable, Equatable {
    /// The best multichannel and the best stereo rendition of the presentation's `Ladder`.
    case best
    /// All renditions that `KeptRendition.all` returns, even those that cannot be decoded.
    case all
    /// The renditions with one of these names: a NAME attribute, an audio group, a `label` or a
    /// `shownName`. Case is ignored.
    case named([String])
  }

  public var wish = Wish.best
  /// The wanted language, maximum bit rate and treatment. If there is no wanted language, `best`
  /// uses the presentation's default language, and the other cases use all languages. Only `best`
  /// uses the treatment.
  public var wishes = RenditionWishes()

  public init() {}

  /// Returns the selected renditions of a multivariant playlist.
  ///
  /// - Throws: `.noRendition` if a name matches no rendition; `.nothing` if none fits the wishes.
  func renditions(of playlist: MultivariantPlaylist) throws(DownloadError) -> [KeptRendition] {
    let all = KeptRendition.all(in: playlist)
    var chosen: [KeptRendition]
    switch wish {
    case .best:
      let ladder = Ladder(
        from: playlist, language: wishes.language, maximumBitRate: wishes.maximumBitRate,
        prefer: wishes.preference)
      let best = [
        ladder.last { !$0.isMultichannel }, ladder.last(where: \.isMultichannel),
      ]
      chosen = best.compactMap(\.self).map { KeptRendition($0, in: playlist) }
    case .all: chosen = all
    case .named(let names):
      chosen = []
      for name in names {
        let fitting = all.filter { $0.isCalled(name) }
        guard !fitting.isEmpty else {
          throw .noRendition(named: name, names: all.map(\.shownName))
        }
        chosen += fitting.filter { !chosen.contains($0) }
      }
    }
    if let language = wishes.language, chosen.contains(where: { $0.speaks(language) }) {
      chosen.removeAll { $0.language != nil && !$0.speaks(language) }
    }
    chosen.removeAll { $0.bitRate > wishes.maximumBitRate }
    // Keep only the first of several redundant renditions.
    let redundant = playlist.redundantPlaylists
    let copies = Set(chosen.flatMap { redundant[$0.uri] ?? [] })
    chosen.removeAll { copies.contains($0.uri) }
    guard !chosen.isEmpty else {
      throw .nothing(
        "every requested rendition exceeds the maximum bit rate or cannot be decoded; choose a "
          + "higher maximum or other renditions")
    }
    return chosen
  }
}

extension KeptRendition {
  /// Name for messages: the NAME attribute, followed by the audio group in parentheses if it is
  /// different. Without a NAME, it is the audio group; without either, it is `label`.
  public var shownName: String {
    let first = name.isEmpty ? group ?? "" : name
    return first.isEmpty ? label : group.map { $0 == first ? first : "\(first) (\($0))" } ?? first
  }

  fileprivate func isCalled(_ wanted: String) -> Bool {
    let wanted = wanted.lowercased()
    return [name, group ?? "", label, shownName].contains { $0.lowercased() == wanted }
  }

  fileprivate func speaks(_ wanted: String) -> Bool { SpokenLanguage.matches(language, wanted) }
}

/// The reason why a presentation cannot be downloaded.
public enum DownloadError: Error, Sendable, Equatable, CustomStringConvertible {
  case presentation(PresentationError)
  case noRendition(named: String, names: [String])
  /// There is nothing to download. The text is the full reason.
  case nothing(String)
  case live(address: String)
  case encrypted(address: String, reason: String)

  public var description: String {
    switch self {
    case .presentation(let error): error.description
    case .noRendition(let name, let names):
      "no rendition is named '\(name)'; choose from: \(names.prefix(20).joined(separator: ", "))"
    case .nothing(let reason): reason
    case .live(let address):
      "'\(address)' is live, and only on-demand presentations can be fetched; save it during "
        + "playback with 'play --keep'"
    case .encrypted(let address, let reason): "'\(address)' cannot be fetched: \(reason)"
    }
  }
}

extension PlaylistLoader {
  /// Loads the playlists of the renditions to download.
  ///
  /// - Returns: the jobs in ascending order of bit rate.
  /// - Throws: the reason why a rendition cannot be downloaded, or `.nothing` if there is no sound
  ///   to download.
  public func jobs(
    for presentation: Presentation, _ selection: RenditionSelection, goesOn: () -> Bool
  ) throws(DownloadError) -> [PresentationDownload.Job] {
    var jobs: [PresentationDownload.Job] = []
    switch presentation {
    case .media(let all):
      // Media playlists alone do not describe their sound, so all of them are selected.
      for loaded in all {
        guard case .media(let playlist) = loaded.playlist else { continue }
        let rendition = KeptRendition(uri: loaded.address.name, name: "")
        jobs.append(.init(rendition: rendition, playlist: playlist, address: loaded.address))
      }
    case .multivariant(let playlist, let address):
      let redundant = playlist.redundantPlaylists
      for rendition in try selection.renditions(of: playlist) {
        let uris = [rendition.uri] + (redundant[rendition.uri] ?? [])
        jobs.append(try job(rendition, uris, of: playlist, at: address, goesOn))
      }
    }
    jobs.removeAll { $0.playlist.hasOnlyKeyFrames }
    for job in jobs { try check(job) }
    guard !jobs.isEmpty else { throw .nothing("the presentation contains no sound") }
    return jobs.sorted { $0.rendition.bitRate < $1.rendition.bitRate }
  }

  /// Returns a job with the first of the rendition's redundant playlists that can be loaded.
  private func job(
    _ rendition: KeptRendition, _ uris: [String], of playlist: MultivariantPlaylist,
    at address: ResourceAddress, _ goesOn: () -> Bool
  ) throws(DownloadError) -> PresentationDownload.Job {
    var notes: [String] = []
    var first: PresentationError?
    for (index, uri) in uris.enumerated() {
      do throws(PresentationError) {
        let place = try self.address(of: uri, in: address)
        let (media, loaded) = try mediaPlaylist(at: place, playlist.variables, goesOn)
        var job = PresentationDownload.Job(
          rendition: rendition, playlist: media, address: loaded)
        job.alternatives = uris[(index + 1)...].compactMap {
          try? self.address(of: $0, in: address)
        }
        job.variables = playlist.variables
        job.notes = notes
        return job
      } catch {
        if error == .interrupted { throw .presentation(error) }
        first = first ?? error
        notes.append("\(error.description); a redundant playlist is used instead")
      }
    }
    throw .presentation(first ?? .interrupted)
  }

  /// Loads a media playlist. Returns it with its address after redirects.
  func mediaPlaylist(
    at place: ResourceAddress, _ variables: PlaylistVariables, _ goesOn: () -> Bool
  ) throws(PresentationError) -> (MediaPlaylist, ResourceAddress) {
    let loaded = try load(place, variables: variables, goesOn: goesOn)
    guard let loaded, case .media(let media) = loaded.playlist else {
      throw .nothing(address: place.description, reason: "it is not a media playlist")
    }
    return (media, loaded.address)
  }

  private func check(_ job: PresentationDownload.Job) throws(DownloadError) {
    let (playlist, address) = (job.playlist, job.address.description)
    // Accept local playlists without an end tag: some downloaders leave it out.
    let isLocal = if case .file = job.address { true } else { false }
    guard playlist.hasEnded || isLocal else { throw .live(address: address) }
    guard !playlist.segments.isEmpty else { throw .nothing("'\(address)' contains no segments") }
    let locked = playlist.segments.first { segment in
      !segment.keys.isEmpty && !segment.keys.contains(where: \.isUsable)
    }
    if let locked { throw .encrypted(address: address, reason: locked.keys.problem) }
  }
}
