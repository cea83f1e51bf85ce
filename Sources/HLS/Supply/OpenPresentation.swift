// SPDX-License-Identifier: Apache-2.0

/// A presentation whose tiers are known.
public struct OpenPresentation: Sendable {
  /// Where a tier's playlist is.
  struct Place: Sendable {
    var address: ResourceAddress
    /// Where it has been loaded already.
    var loaded: PlaylistLoader.Loaded?
  }

  /// What may be fetched; tiers in everything else are counted in it.
  public let ladder: Ladder
  /// Of each tier: whether it was made for headphones already.
  public let areBinaural: [Bool]
  /// Of each tier: what there is to be said of it where it is kept.
  public let renditions: [KeptRendition]
  /// Whether there are multichannel tiers that were not wanted.
  public let hasMultichannelBeyond: Bool
  /// Where the multivariant playlist wishes playing to begin.
  let start: PlaylistStart?
  let places: [Place]
  let variables: PlaylistVariables
  let loader: PlaylistLoader
  let fetcher: any ResourceFetcher

  /// Whether it comes from a server, so that bandwidth matters.
  public var isRemote: Bool { loader.folder == nil }

  /// - Parameters:
  ///   - presentation: as it was opened by `loader`.
  ///   - wishes: which of its tiers are wanted.
  ///   - describe: tells what a media playlist without a multivariant one holds, by its first segment;
  ///     nil where that cannot be played.
  ///   - goesOn: false ends it.
  public init(
    _ presentation: Presentation, loader: PlaylistLoader, fetcher: any ResourceFetcher,
    wishes: TierWishes, describe: (SuppliedSegment) -> TierDescription?, goesOn: () -> Bool
  ) throws(PresentationError) {
    self.loader = loader
    self.fetcher = fetcher
    switch presentation {
    case .multivariant(let playlist, let address):
      variables = playlist.variables
      start = playlist.start
      let offered = Ladder(
        from: playlist, language: wishes.language, maximumBitRate: wishes.maximumBitRate,
        prefer: wishes.preference)
      ladder = Ladder(offered.tiers.filter { Self.isThere($0.uri, address, loader) })
      guard !ladder.tiers.isEmpty || offered.tiers.isEmpty else {
        throw .nothing(
          address: address.description,
          reason: "none of the playlists that it names is in the folder")
      }
      try Self.requireTiers(ladder, address, wishes)
      hasMultichannelBeyond =
        Ladder(from: playlist, language: wishes.language).firstMultichannel != nil
      var places: [Place] = []
      for tier in ladder.tiers {
        places.append(Place(address: try loader.address(of: tier.uri, in: address)))
      }
      self.places = places
      renditions = ladder.tiers.map { KeptRendition($0, in: playlist) }
      areBinaural = ladder.tiers.map { tier in
        playlist.renditions.contains { $0.uri == tier.uri && $0.channels?.isBinaural == true }
      }
    case .media(let all):
      variables = PlaylistVariables()
      start = nil
      let found = try Self.tiers(all, loader, fetcher, describe, goesOn)
      ladder = Ladder(
        found.map(\.tier), maximumBitRate: wishes.maximumBitRate, prefer: wishes.preference)
      try Self.requireTiers(ladder, all[0].address, wishes)
      hasMultichannelBeyond = found.contains { $0.tier.isMultichannel }
      let chosen = ladder.tiers.compactMap { tier in found.first { $0.tier.uri == tier.uri } }
      places = chosen.map { Place(address: $0.loaded.address, loaded: $0.loaded) }
      areBinaural = chosen.map(\.isBinaural)
      renditions = ladder.tiers.map { tier in
        var rendition = KeptRendition(uri: tier.uri, name: "\(tier.channels ?? 2) channels")
        rendition.channelText = tier.channels.map(String.init)
        rendition.bitRate = tier.bitRate
        return rendition
      }
    }
  }

  /// Whether a playlist can be had: of a downloaded presentation often only one was kept.
  private static func isThere(
    _ uri: String, _ playlist: ResourceAddress, _ loader: PlaylistLoader
  ) -> Bool {
    guard let folder = loader.folder, case .file(let path) = playlist else { return true }
    return folder.file(for: uri, from: path) != nil
  }

  private static func requireTiers(
    _ ladder: Ladder, _ address: ResourceAddress, _ wishes: TierWishes
  ) throws(PresentationError) {
    guard ladder.tiers.isEmpty else { return }
    throw .nothing(
      address: address.description,
      reason: wishes.maximumBitRate.isFinite
        ? "no rendition of its sound needs less than the maximum bit rate"
        : "it names no sound that can be decoded")
  }

  private static func tiers(
    _ all: [PlaylistLoader.Loaded], _ loader: PlaylistLoader, _ fetcher: any ResourceFetcher,
    _ describe: (SuppliedSegment) -> TierDescription?, _ goesOn: () -> Bool
  ) throws(PresentationError) -> [(tier: Tier, loaded: PlaylistLoader.Loaded, isBinaural: Bool)] {
    var segments = SegmentLoader(loader, fetcher: fetcher)
    var found: [(tier: Tier, loaded: PlaylistLoader.Loaded, isBinaural: Bool)] = []
    var problem: LoadProblem?
    for loaded in all {
      guard case .media(let playlist) = loaded.playlist, !playlist.hasOnlyKeyFrames else {
        continue
      }
      // The first that is there.
      for segment in playlist.segments.filter({ !$0.isGap }).prefix(20) {
        if !goesOn() { throw .interrupted }
        do throws(LoadProblem) {
          let (supplied, _) = try segments.load(segment, in: loaded.address) { _ in goesOn() }
          guard let description = describe(supplied) else { break }
          let bits = Double(supplied.bytes.count * 8) / max(segment.duration, 0.1)
          let tier = Tier(
            uri: loaded.address.description, bitRate: max(1, bits),
            isMultichannel: description.channels > 2, channels: description.channels)
          found.append((tier, loaded, description.isBinaural))
          break
        } catch { problem = problem ?? error }
      }
    }
    guard found.isEmpty else { return found }
    throw .nothing(
      address: all.first?.address.description ?? "",
      reason: problem?.description ?? "none of its segments holds sound that can be decoded")
  }
}

/// What of a presentation is wanted.
public struct TierWishes: Sendable, Equatable {
  /// A language tag (RFC 5646).
  public var language: String?
  /// bit/s.
  public var maximumBitRate = Double.infinity
  public var preference = TreatmentPreference.multichannel

  public init() {}
}

/// What a segment turned out to hold.
public struct TierDescription: Sendable {
  public var channels: Int
  public var isBinaural: Bool

  public init(channels: Int, isBinaural: Bool) {
    self.channels = channels
    self.isBinaural = isBinaural
  }
}
