// SPDX-License-Identifier: Apache-2.0

/// An opened presentation with the renditions to choose from.
public struct OpenPresentation: Sendable {
  /// A place from which a rendition can be fetched: the address of a media playlist.
  struct Place: Sendable {
    var address: ResourceAddress
    /// The playlist; nil if it must still be loaded.
    var loaded: PlaylistLoader.Loaded?
  }

  private struct FoundRendition {
    var rendition: Rendition
    var loaded: PlaylistLoader.Loaded
    var isBinaural: Bool
  }

  /// The renditions that may be fetched.
  public let ladder: Ladder
  /// Whether each rendition is known to be made for headphones, in ladder order.
  public let areBinaural: [Bool]
  /// Descriptions of the renditions for `PresentationKeeper`, in ladder order.
  public let keptRenditions: [KeptRendition]
  /// Whether decodable multichannel renditions in the chosen language are available, regardless of
  /// the maximum bit rate and the preferred treatment.
  public let hasMultichannelBeyond: Bool
  /// The preferred start that the multivariant playlist states; nil if there is none or it is
  /// ignored.
  let start: PlaylistStart?
  /// The media playlists of each rendition, in ladder order. The playlists of one rendition have
  /// the same content and are tried in order.
  let places: [[Place]]
  /// The notes of the multivariant playlist; empty if there is no multivariant playlist.
  let notes: [String]
  let variables: PlaylistVariables
  let loader: PlaylistLoader
  let fetcher: any ResourceFetcher

  /// Whether the presentation comes from a server.
  public var isRemote: Bool { loader.folder == nil }

  /// Chooses the renditions that can be played and that `wishes` allows.
  ///
  /// - Parameters:
  ///   - presentation: a presentation that `loader` opened.
  ///   - describe: describes a rendition from one of its segments; returns nil if the segment
  ///     cannot be played. Called only if there is no multivariant playlist.
  ///   - goesOn: return false to cancel.
  /// - Throws: `.nothing` if there is no such rendition, `.interrupted` after a cancellation, or
  ///   `.refused` if the address of a rendition's first playlist is invalid.
  public init(
    _ presentation: Presentation, loader: PlaylistLoader, fetcher: any ResourceFetcher,
    wishes: RenditionWishes, describe: (SuppliedSegment) -> RenditionDescription?,
    goesOn: () -> Bool
  ) throws(PresentationError) {
    self.loader = loader
    self.fetcher = fetcher
    switch presentation {
    case .multivariant(let playlist, let address):
      variables = playlist.variables
      // In a folder, ignore a negative start: it was meant relative to the live end.
      let isLiveStart = loader.folder != nil && playlist.start.map { $0.offset < 0 } ?? false
      start = isLiveStart ? nil : playlist.start
      notes = playlist.notes
      let offered = Ladder(
        from: playlist, language: wishes.language, maximumBitRate: wishes.maximumBitRate,
        prefer: wishes.preference)
      ladder = Ladder(offered.compactMap { Self.present($0, address, loader) })
      guard !ladder.isEmpty || offered.isEmpty else {
        throw .nothing(
          address: address.description,
          reason: "the folder contains none of the renditions that the settings allow; choose "
            + "other settings, or download more renditions")
      }
      try Self.requireRenditions(ladder, address, wishes)
      let unrestricted = Ladder(from: playlist, language: wishes.language)
      hasMultichannelBeyond = unrestricted.contains {
        $0.isMultichannel && Self.present($0, address, loader) != nil
      }
      var places: [[Place]] = []
      for rendition in ladder {
        var own = [Place(address: try loader.address(of: rendition.uri, in: address))]
        for uri in rendition.alternatives {
          if let place = try? loader.address(of: uri, in: address) {
            own.append(Place(address: place))
          }
        }
        places.append(own)
      }
      self.places = places
      keptRenditions = ladder.map { KeptRendition($0, in: playlist) }
      areBinaural = ladder.map { rendition in
        playlist.renditions.contains { $0.uri == rendition.uri && $0.channels?.isBinaural == true }
      }
    case .media(let all):
      variables = PlaylistVariables()
      start = nil
      notes = []
      let found = try Self.renditions(all, loader, fetcher, describe, goesOn)
      ladder = Ladder(
        found.map(\.rendition), maximumBitRate: wishes.maximumBitRate, prefer: wishes.preference)
      try Self.requireRenditions(ladder, all[0].address, wishes)
      hasMultichannelBeyond = found.contains { $0.rendition.isMultichannel }
      let chosen = ladder.compactMap { rendition in
        found.first { $0.rendition.uri == rendition.uri }
      }
      places = chosen.map { [Place(address: $0.loaded.address, loaded: $0.loaded)] }
      areBinaural = chosen.map(\.isBinaural)
      keptRenditions = ladder.map { rendition in
        let count = rendition.channels ?? 2
        var kept = KeptRendition(
          uri: rendition.uri, name: count == 1 ? "1 channel" : "\(count) channels")
        kept.channelText = rendition.channels.map(String.init)
        kept.bitRate = rendition.bitRate
        return kept
      }
    }
  }

  /// Whether the playlist of a rendition is available. A server is assumed to have all playlists. A
  /// downloaded presentation often contains only one.
  private static func isThere(
    _ uri: String, _ playlist: ResourceAddress, _ loader: PlaylistLoader
  ) -> Bool {
    guard let folder = loader.folder, case .file(let path) = playlist else { return true }
    return folder.file(for: uri, from: path) != nil
  }

  /// Returns a rendition without its unavailable playlists; nil if none is available.
  private static func present(
    _ rendition: Rendition, _ playlist: ResourceAddress, _ loader: PlaylistLoader
  ) -> Rendition? {
    let all = [rendition.uri] + rendition.alternatives
    let present = all.filter { isThere($0, playlist, loader) }
    guard let first = present.first else { return nil }
    var rendition = rendition
    (rendition.uri, rendition.alternatives) = (first, Array(present.dropFirst()))
    return rendition
  }

  private static func requireRenditions(
    _ ladder: Ladder, _ address: ResourceAddress, _ wishes: RenditionWishes
  ) throws(PresentationError) {
    guard ladder.isEmpty else { return }
    throw .nothing(
      address: address.description,
      reason: wishes.maximumBitRate.isFinite
        ? "each of its renditions exceeds the maximum bit rate or cannot be decoded; choose a "
          + "higher maximum"
        : "it has no sound that can be decoded")
  }

  private static func renditions(
    _ all: [PlaylistLoader.Loaded], _ loader: PlaylistLoader, _ fetcher: any ResourceFetcher,
    _ describe: (SuppliedSegment) -> RenditionDescription?, _ goesOn: () -> Bool
  ) throws(PresentationError) -> [FoundRendition] {
    var segments = SegmentLoader(loader, fetcher: fetcher)
    var found: [FoundRendition] = []
    var problem: LoadProblem?
    for loaded in all {
      guard case .media(let playlist) = loaded.playlist, !playlist.hasOnlyKeyFrames else {
        continue
      }
      // Describe the rendition from the first segment that can be loaded. Try at most 20 segments.
      for segment in playlist.segments.filter({ !$0.isGap }).prefix(20) {
        if !goesOn() { throw .interrupted }
        do throws(LoadProblem) {
          let (supplied, _) = try segments.load(segment, in: loaded.address) { _ in goesOn() }
          guard let description = describe(supplied) else { break }
          let bits = Double(supplied.bytes.count * 8) / max(segment.duration, 0.1)
          let rendition = Rendition(
            uri: loaded.address.description, bitRate: max(1, bits),
            isMultichannel: description.channels > 2, channels: description.channels)
          found.append(
            .init(rendition: rendition, loaded: loaded, isBinaural: description.isBinaural))
          break
        } catch { problem = problem ?? error }
      }
    }
    guard found.isEmpty else { return found }
    // A cancellation during the last load also leaves a problem.
    if !goesOn() { throw .interrupted }
    throw .nothing(
      address: all.first?.address.description ?? "",
      reason: problem?.description ?? "no decodable sound was found in its first segments")
  }
}

/// The criteria for the choice of renditions.
public struct RenditionWishes: Sendable, Equatable {
  /// A language tag (RFC 5646); nil for no preference.
  public var language: String?
  /// Maximum bit rate in bit/s.
  public var maximumBitRate = Double.infinity
  public var preference = TreatmentPreference.multichannel

  public init() {}
}

/// The properties of a rendition, found by decoding a segment.
public struct RenditionDescription: Sendable {
  public var channels: Int
  public var isBinaural: Bool

  public init(channels: Int, isBinaural: Bool) {
    self.channels = channels
    self.isBinaural = isBinaural
  }
}
