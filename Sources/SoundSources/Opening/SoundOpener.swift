// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import Glibc
public import HLS
public import Media
public import Rendering

/// Opens what a person names: an audio file; an HLS presentation by the address or the path of its
/// playlist; or a folder that holds a downloaded presentation, or nothing but one audio file.
///
/// ```swift
/// let opener = try SoundOpener("https://example.org/master.m3u8", settings: options.render)
/// let player = try Player(options: options, makeSource: opener.open)
/// ```
public struct SoundOpener: Sendable {
  /// How a presentation is opened.
  public struct Options: Sendable {
    /// Which of its renditions are wanted.
    public var wishes = RenditionWishes()
    /// The rendition follows the line where it comes from a server; otherwise it is the best one
    /// always.
    public var followsLine = true
    /// The folder in which a downloaded presentation's files lie; nil: the playlist's own, or one
    /// above it that has a playlist which names it.
    public var root: String?
    /// How the user names another `root`; it ends the refusal of a file that lies outside.
    public var rootRemedy: String?
    /// A folder in which what is fetched is kept as a presentation that plays without a server.
    public var keepFolder: String?
    /// Makes every call give up, of the sources too.
    public var interrupt: InterruptFlag?

    public init() {}
  }

  /// Nil for a file.
  private let presentation: OpenPresentation?
  private let path: String
  private let settings: RenderSettings
  private let options: Options
  private let keeper: PresentationKeeper?

  /// Looks what it is, and opens a presentation's playlists; a file that cannot be read is told of
  /// here.
  ///
  /// - Parameters:
  ///   - input: a path, or an address of `file:`, `http:` or `https:`.
  ///   - settings: how channels are read.
  /// - Throws: `.opening` for a presentation, `.media` for a file.
  public init(
    _ input: String, settings: RenderSettings = RenderSettings(), options: Options = Options()
  ) throws(PlaybackError) {
    (self.settings, self.options, path) = (settings, options, Self.file(input))
    if let place = try Self.place(input, options) {
      presentation = try Self.open(place, settings, options)
      keeper = try Self.keeper(options, place)
      return
    }
    if options.keepFolder != nil { throw .opening(.fileCannotBeKept(input)) }
    (presentation, keeper) = (nil, nil)
    _ = try open()
  }

  /// A source from the beginning; it may be called again.
  ///
  /// - Parameter sampleRate: Hz; nil for its own.
  public func open(sampleRate: Int? = nil) throws(PlaybackError) -> any SoundSource {
    guard let presentation else {
      return try FileSource(
        path: path, settings: settings, sampleRate: sampleRate, interrupt: options.interrupt)
    }
    let source = try stream(presentation, sampleRate, keeper: keeper)
    guard !presentation.isRemote else { return source }
    source.another = { [self] () throws(PlaybackError) in
      try stream(presentation, sampleRate, keeper: nil)
    }
    return source
  }

  /// Brings what is kept up to date once all has been played.
  ///
  /// - Returns: why something could not be kept.
  public func finishKeeping() -> KeepingError? { keeper?.finish() ?? keeper?.problem }

  private func stream(
    _ presentation: OpenPresentation, _ sampleRate: Int?, keeper: PresentationKeeper?
  ) throws(PlaybackError) -> HLSSource {
    let followsLine = options.followsLine && presentation.isRemote
    let supply = SegmentSupply(
      presentation, clock: { Double(monotonic_nanoseconds()) * 1e-9 },
      pause: { usleep(useconds_t(min($0, 1) * 1e6)) },
      observer: keeper?.observer(of: presentation.keptRenditions),
      rule: {
        if followsLine { return RenditionChoice(ladder: presentation.ladder) }
        return FixedRendition(presentation.ladder.count - 1)
      })
    return try HLSSource(
      supply, settings: settings, sampleRate: sampleRate, interrupt: options.interrupt)
  }

  // MARK: Presentations

  private static func place(
    _ input: String, _ options: Options
  ) throws(PlaybackError) -> PresentationPlace? {
    do throws(SoundOpeningError) {
      return try presentation(input, options)
    } catch { throw .opening(error) }
  }

  private static func open(
    _ place: PresentationPlace, _ settings: RenderSettings, _ options: Options
  ) throws(PlaybackError) -> OpenPresentation {
    let interrupt = options.interrupt
    let goesOn = { interrupt?.isRaised != true }
    do throws(PresentationError) {
      let loader = PlaylistLoader(place.fetcher, folder: place.folder)
      return try OpenPresentation(
        place.open(loader, goesOn: goesOn), loader: loader, fetcher: place.direct,
        wishes: options.wishes,
        describe: { RenditionDescription(of: $0, settings: settings, interrupt: interrupt) },
        goesOn: goesOn)
    } catch {
      if case .interrupted = error { throw .interrupted }
      throw goesOn() ? .opening(.presentation(error.description)) : .interrupted
    }
  }

  private static func keeper(
    _ options: Options, _ place: PresentationPlace
  ) throws(PlaybackError) -> PresentationKeeper? {
    guard let folder = options.keepFolder else { return nil }
    do throws(KeepingError) {
      return try PresentationKeeper(folder: folder, source: place.address.description)
    } catch { throw .opening(.keeping(error.description)) }
  }
}

extension PresentationKeeper {
  /// Keeps each segment that comes.
  fileprivate func observer(of renditions: [KeptRendition]) -> SegmentSupply.Observer {
    { [self] arrival in
      let rendition = renditions[arrival.rendition]
      let map = arrival.supplied.initialisation
      follow(arrival.playlist, of: rendition)
      keep(
        arrival.segment, body: arrival.supplied.bytes, map: map.isEmpty ? nil : map, of: rendition)
    }
  }
}
