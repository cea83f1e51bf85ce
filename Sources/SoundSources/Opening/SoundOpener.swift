// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import Glibc
public import HLS
public import Media
public import Rendering

/// Opens the sound that the user names: an audio file, an HLS playlist, or a folder that contains a
/// downloaded presentation or a single audio file.
public struct SoundOpener: Sendable {
  /// The options for opening a sound. All of them except `interrupt` concern only presentations.
  public struct Options: Sendable {
    /// The criteria for the renditions that may be played.
    public var wishes = RenditionWishes()
    /// Whether the choice of rendition adapts to the network. If false, or for a local
    /// presentation, the best rendition is played. Default: true.
    public var followsLine = true
    /// The folder that contains the files of a downloaded presentation.
    ///
    /// Nil chooses a folder:
    /// - If the user names a folder, that folder.
    /// - If the user names a playlist, a folder one or two levels above the playlist's folder if a
    ///   multivariant playlist in that folder refers to the named playlist; otherwise the
    ///   playlist's folder.
    ///
    /// Default: nil.
    public var root: String?
    /// Advice on choosing another `root`, for error messages. Default: nil.
    public var rootRemedy: String?
    /// The folder in which the fetched segments are kept as a local presentation; nil to keep
    /// nothing. Default: nil.
    public var keepFolder: String?
    /// The time limit for slow fetches, and a function that receives the progress of long fetches.
    /// Default: 30 s and no function.
    public var network = NetworkPatience()
    /// A flag that, once raised, makes the opener and its sources throw
    /// `PlaybackError.interrupted`. Default: nil.
    public var interrupt: InterruptFlag?

    public init() {}
  }

  /// The presentation; nil for a file.
  private let presentation: OpenPresentation?
  private let path: String
  private let settings: RenderSettings
  private let options: Options
  private let keeper: PresentationKeeper?
  private let completion: KeptCompletion?

  /// Recognises the input. Opens the playlists of a presentation, or opens a file once to check it.
  ///
  /// - Parameters:
  ///   - input: a path, or an address with `file:`, `http:` or `https:`.
  ///   - settings: the choice of the track, the interpretation of its channels and the use of its
  ///     level metadata.
  ///   - options: the options for a presentation, and the interrupt flag.
  /// - Throws: `PlaybackError.opening` if the address is not supported, a presentation cannot be
  ///   opened or the input cannot be kept; `.media` if a file cannot be read or its channels do not
  ///   fit the settings; or `.interrupted`.
  public init(
    _ input: String, settings: RenderSettings = RenderSettings(), options: Options = Options()
  ) throws(PlaybackError) {
    (self.settings, self.options, path) = (settings, options, Self.file(input))
    if let place = try Self.place(input, options) {
      let opened = try Self.open(place, settings, options)
      let keeper = try Self.keeper(options, place)
      (presentation, self.keeper) = (opened, keeper)
      completion = keeper.map { KeptCompletion(of: opened, in: $0, fetcher: place.fetcher) }
      return
    }
    if options.keepFolder != nil { throw .opening(.fileCannotBeKept(input)) }
    (presentation, keeper, completion) = (nil, nil, nil)
    _ = try open()
  }

  /// Opens a source at its beginning. This function may be called several times.
  ///
  /// - Parameter sampleRate: the output sample rate in Hz; nil for the source's own rate.
  /// - Throws: any error from `FileSource` or `HLSSource`.
  public func open(sampleRate: Int? = nil) throws(PlaybackError) -> any SoundSource {
    guard let presentation else {
      return try FileSource(
        path: path, settings: settings, sampleRate: sampleRate, interrupt: options.interrupt)
    }
    let source = try stream(presentation, sampleRate, completion: completion)
    guard !presentation.isRemote else { return source }
    source.another = { [self] () throws(PlaybackError) in
      try stream(presentation, sampleRate, completion: nil)
    }
    return source
  }

  /// Whether the sound is a presentation that was opened from a folder rather than from a server.
  public var isInFolder: Bool { presentation.map { !$0.isRemote } ?? false }

  /// Completes the kept presentation. Call this function after playback has ended. It fetches the
  /// segments that one rendition lacks because they were played in another, and updates the
  /// playlists.
  ///
  /// - Parameters:
  ///   - begins: called before missing segments are fetched, with their number; called again if
  ///     another rendition has to be tried.
  ///   - goesOn: called before each request and about ten times per second during it; return false
  ///     to stop fetching.
  /// - Returns: the first write error; nil if there was none or nothing was to be kept. A segment
  ///   that cannot be fetched is not an error.
  public func finishKeeping(
    begins: (Int) -> Void = { _ in }, goesOn: () -> Bool = { true }
  ) -> KeepingError? {
    if keeper?.problem == nil { completion?.run(begins: begins, goesOn: goesOn) }
    return keeper?.finish() ?? keeper?.problem
  }

  private func stream(
    _ presentation: OpenPresentation, _ sampleRate: Int?, completion: KeptCompletion?
  ) throws(PlaybackError) -> HLSSource {
    let followsLine = options.followsLine && presentation.isRemote
    var conditions = SegmentSupply.Conditions()
    conditions.silence = min(conditions.silence, options.network.seconds)
    conditions.patience = options.network.seconds / 2
    conditions.livePatience = 2 * options.network.seconds
    var observer: SegmentSupply.Observer?
    if let completion { observer = { completion.take($0) } }
    let supply = SegmentSupply(
      presentation, conditions: conditions, clock: { Double(monotonic_nanoseconds()) * 1e-9 },
      pause: { usleep(useconds_t(min($0, 1) * 1e6)) },
      observer: observer,
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
