// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
private import AudioMix
private import Binaural
private import CRealtime
private import Geometry
private import HeadTracking
private import Media
internal import Rendering
public import SignalProcessing
private import SoundServer
internal import SoundSources
private import Synchronization

/// Plays a source over headphones, with a stage that stands still while the head turns, or over
/// loudspeakers.
///
/// ```swift
/// let player = try Player(path: "concert.flac")
/// try player.start()
/// while !player.isFinished { usleep(100_000) }
/// player.stop()
/// ```
///
/// ## Threading
/// Any thread may use any member. The player reads the source on its own thread.
public final class Player: @unchecked Sendable {
  /// The playback sample rate [Hz]: the sink's rate, or 48000 if that rate is unknown or not
  /// supported.
  public let sampleRate: Int
  public let title: String?
  /// Notes for the listener about the initial HRTF set, one sentence each.
  public let notes: [String]

  /// The loudspeakers or the soundfield that the stage consists of, after matrix decoding or an
  /// upmix.
  public let stageLayout: ChannelLayout
  private let options: PlayerOptions
  /// Whether the source is a soundfield.
  public let isAmbisonic: Bool
  private let route: RouteFollower
  private let duration: Double?
  let feed: RenderFeed
  private let output: any AudioOutput
  let conductor: Conductor
  private let head: PlayedHead
  let events: EventQueue
  private let redesigner: Redesigner
  private let rendering: RoutedRendering
  private let levelBoard: LevelledSource.Board?
  private let scan: LoudnessScan?
  private let streamed: (any StreamedSource)?
  /// Separates the source; nil if the source cannot be mixed.
  let stems: MixStemSource?
  private let shared = Mutex(Shared())

  /// How long the first read may wait for a good loudness estimate [ms]: `patience` minus the time
  /// from the start of the player's creation to the end of the filter design, but at least
  /// `shortestPatience`.
  private static let (patience, shortestPatience) = (120, 60)
  /// How long `stop` may wait for the sound to fade out [ns]. A program should end within 0.5 s.
  private static let longestFadeOut: Int64 = 330_000_000

  private struct Shared { var isStopped = false }

  /// Creates a player for a file, a playlist or a folder; see ``SoundOpener``.
  ///
  /// - Throws: the reason why the sound server, the source or the render settings cannot be used;
  ///   `PlaybackError.interrupted` if the creation was interrupted.
  public convenience init(
    path: String, options: PlayerOptions = PlayerOptions()
  ) throws(PlaybackError) {
    try self.init(
      options: options, makeSource: SoundOpener(path, settings: options.render).open)
  }

  /// Creates a player for any source.
  ///
  /// - Parameters:
  ///   - options: the player's settings.
  ///   - makeSource: creates the source at the playback sample rate [Hz].
  /// - Throws: the reason why the sound server, the source or the render settings cannot be used;
  ///   `PlaybackError.interrupted` if the creation was interrupted.
  public init(
    options: PlayerOptions, makeSource: (_ sampleRate: Int) throws(PlaybackError) -> any SoundSource
  ) throws(PlaybackError) {
    let began = monotonic_nanoseconds()
    let client = SoundServerClient(options.output, serverAddress: options.serverAddress)
    let sink = try Self.sink(options, client)
    let rate = Self.usable(sink?.sampleRate ?? 0)
    let made = try makeSource(rate)
    if options.render.mix != nil { try requireSoundfield(made) }
    let source = try preparedUnmixed(made, settings: options.render)
    // Measure the loudness while the decoder and the output are prepared.
    var unmixed = options.render
    unmixed.mix = nil
    let scan = unmixed.loudness.flatMap { _ in LoudnessScan(of: made, settings: unmixed) }
    // Decide how to treat the programme on the route, and design the decoder.
    let policy = options.route.applying(options.render)
    let programme = Programme(
      layout: source.contentLayout(atFrame: 0), isBinaural: source.isBinaural)
    let facts = sink.map { RouteFacts($0) }
    let decision = policy.decision(for: programme, on: facts, mode: options.mode)
    let loudspeakers =
      options.render.playback == .headphones ? .laptop : options.render.playback
    var settings = options.render
    settings.playback = decision.playback(settings, loudspeakers: loudspeakers) ?? .headphones
    let hrtf = try HRTFChoice(path: settings.hrtfPath, interrupt: options.interrupt)
    let filters = try hrtf.filters(
      for: source.layout, settings: settings, sampleRate: Double(rate))
    self.options = options
    sampleRate = rate
    title = source.title
    stageLayout = source.layout
    notes = hrtf.notes
    duration = source.duration.map { Double($0) / Double(rate) }
    if case .ambisonics = source.layout { isAmbisonic = true } else { isAmbisonic = false }
    let events = EventQueue()
    self.events = events
    // Adjust the level of the sound before it reaches the renderer.
    let streamed = made.stream
    streamed?.loudnessAsHeard = {
      [bus = source.layout, isBinaural = source.isBinaural, settings] layout, planes in
      loudness(
        ofSnippet: planes, layout, isBinaural: isBinaural, on: bus, filters: filters,
        settings: settings)
    }
    self.streamed = streamed
    let elapsed = Int((monotonic_nanoseconds() - began) / 1_000_000)
    let level = levelled(
      source, from: made, filters: filters, settings: unmixed, scan: scan,
      patienceMilliseconds: max(Self.shortestPatience, Self.patience - elapsed)
    ) { events.add(.loudness($0)) }
    levelBoard = level?.board
    self.scan = level?.scan
    // Then separate soundfields. The mix takes place when a block is rendered.
    let mix = settings.mix ?? MixSettings(style: .standard)
    stems =
      (try? requireSoundfield(made)) == nil
      ? nil
      : try MixStemSource(level ?? source, settings: mix, separates: settings.mix != nil)
    let layout = stems?.field ?? source.layout
    let mixer = stems.map {
      StemMixer(
        channels: $0.fieldChannels, headLocked: $0.headLocked, sampleRate: Double(rate),
        settings: mix)
    }
    // Create the pose source, the renderer and the output.
    let head = PlayedHead(options, events)
    self.head = head
    let renderer = Renderer(
      layout: layout, filters: filters, busOrder: settings.busOrder,
      blockFrames: settings.blockFrames, mode: decision.renderedMode, finish: .safe,
      rewritableSeconds: client.hasQueue && head.stage.becomesKnown && options.rewriting != .never
        ? 0.5 : 0)
    let ring = FrameRing(
      channelCount: (stems?.layout ?? layout).channelCount, capacity: rate * 5 / 2)
    feed = RenderFeed(ring: ring, renderer: renderer, head: head.stage, mixer: mixer)
    feed.volume = linearGain(decibels: settings.gainDecibels)
    // If the sound is not streamed, the output waits for it: a queue that begins with silence would
    // delay the first sound.
    let startsPaused = client.hasQueue && made.stream == nil
    let output = try Self.makeOutput(
      client, options, rate, feed, isHeadKnown: !head.stage.becomesKnown,
      startsPaused: startsPaused)
    self.output = output
    // Create the objects that change the decoder and follow the route during playback.
    redesigner = Redesigner(
      renderer: renderer, layout: layout, told: hrtf.notes, tell: events.add)
    let rendering = RoutedRendering(
      settings: settings, decision: decision, mode: options.mode, loudspeakers: loudspeakers,
      renderer: renderer, head: head.stage, redesigner: redesigner,
      refresh: { [weak output] in output?.refresh() })
    self.rendering = rendering
    let route = RouteFollower(
      policy: policy, programme: programme, facts: facts, mode: options.mode, tell: events.add,
      apply: rendering.apply)
    self.route = route
    head.poses?.prediction = options.prediction.pose(for: options.sinkName ?? "")
    // Without a queue, nothing is rendered again: a newer pose is audible in the next cycle.
    head.poses?.correctsQuickly = !client.hasQueue
    // Create the thread that reads the source and follows the output.
    conductor = Conductor(
      source: stems ?? level ?? source, feed: feed, output: output, startsPaused: startsPaused
    ) { event in
      if let sink = event.newSink {
        let status = output.status
        head.poses?.prediction = options.prediction.pose(
          for: sink, queue: status.isLatencyApproximate ? status.queueMilliseconds : nil)
      }
      if let sink = event.routedSink { route.follow(sink) }
      if case .layoutChanged(let layout) = event { route.follow(layout) }
      events.add(event)
    }
    head.stage.settle()
    if renderer.isRewritable {
      head.poses?.observe { [weak output] in
        output?.refresh()
        return output != nil
      }
    }
    if let offer = made.multichannelOffer { declareMultichannelContent(offer) }
    if let start = streamed?.startFrame, start > 0 {
      conductor.wish { $0.seek = start }
    }
  }

  deinit { stop() }

  // MARK: Playing

  /// Connects to the sound server and begins to play.
  ///
  /// - Throws: `PlaybackError.output` if the stream cannot be opened or the player has been
  ///   stopped. After an error, the player cannot be started again.
  public func start() throws(PlaybackError) {
    head.start()
    conductor.start()
    do throws(SoundServerError) {
      try output.start()
    } catch {
      stop()
      throw .output(error.description)
    }
  }

  /// Fades out and pauses.
  public func pause() { conductor.wish { $0.isPaused = true } }

  /// Resumes after `pause`, with a fade-in of 50 ms.
  public func resume() { conductor.wish { $0.isPaused = false } }

  public var isPaused: Bool { conductor.wishes.withLock { $0.isPaused } }

  /// Goes to a position in the source [s], limited to the range from 0 to the duration. Ignores a
  /// position that is not finite.
  public func seek(toSeconds seconds: Double) {
    guard seconds.isFinite else { return }
    // No source is as long as 3e9 s (95 years), and the number of frames in 3e9 s fits in `Int`.
    let limited = max(0, min(seconds, duration ?? 3e9))
    conductor.wish { $0.seek = Int(limited * Double(sampleRate)) }
  }

  /// Skips forward by a number of seconds, or backward if the number is negative.
  public func skip(bySeconds seconds: Double) {
    let pending = conductor.wishes.withLock { $0.seek }.map { Double($0) / Double(sampleRate) }
    seek(toSeconds: (pending ?? position) + seconds)
  }

  /// The linear playback gain, initially that of `RenderSettings.gainDecibels`. A new value is
  /// clamped to 0 ... 10 (+20 dB). A change takes 50 ms.
  public var volume: Float {
    get { feed.volume }
    set { feed.volume = min(10, max(0, newValue)) }
  }

  /// How the stage relates to the head. A change is a smooth transition.
  public var mode: StageMode {
    get { route.mode }
    set {
      events.add(.modeChanged(newValue))
      route.mode = newValue
    }
  }

  /// The target loudness at the ears [LUFS], clamped to -70 ... 0; always nil if the player was
  /// created without levelling. During playback, the gain follows a change at 0.9 dB/s. Setting nil
  /// or a value that is not finite has no effect.
  public var loudnessTarget: Double? {
    get { levelBoard?.content.withLock { $0.target } }
    set {
      guard let newValue, newValue.isFinite else { return }
      levelBoard?.content.withLock { $0.target = min(0, max(-70, newValue)) }
    }
  }

  /// How the programme is rendered, for which device, and why.
  public var routeDecision: RouteDecision { route.decision }

  /// Declares that the programme is available with more channels. If its present layout is mono
  /// or stereo, `.multichannelOffered` follows.
  ///
  /// - Parameter offer: how the listener can get the additional channels.
  public func declareMultichannelContent(_ offer: MultichannelOffer) {
    if !route.programme.isMultichannel { events.add(.multichannelOffered(offer)) }
  }

  /// The render settings with the latest requested decoder.
  public var decoding: RenderSettings { rendering.settings }

  /// Changes the HRTF set, equalisation, decoder design, bus order, headphone profile and head
  /// size.
  ///
  /// The other settings stay as they are. Another thread designs the decoder, which is then faded
  /// in. `.decoderChanged` or `.decoderKept` follows, unless a newer request or a change of the
  /// device replaces this request, or the player is stopped.
  public func decode(by settings: RenderSettings) { rendering.decode(by: settings) }

  /// Moves the front of the stage to the direction that the head faces.
  public func recenter() { head.poses?.recenter() }

  /// The ID of the last connected tracker, and the yaw of the front in that tracker's world [rad].
  ///
  /// The value is nil before the first sample of a tracker, while the stage is relative to a device
  /// (`PlayerOptions.deviceTracker`), and if `PlayerOptions.head` is neither `.automatic` nor
  /// `.tracker`.
  public var front: (tracker: String, yaw: Double)? { head.front }

  /// Fades out and ends playback. The player cannot be started again.
  public func stop() {
    let isFirst = shared.withLock { shared in
      defer { shared.isStopped = true }
      return !shared.isStopped
    }
    guard isFirst else { return }
    redesigner.stop()
    scan?.stop()
    streamed?.abandon()
    conductor.stop()
    if output.status.state == .playing { fadeOut() }
    output.stop()
    head.stop()
  }

  private func fadeOut() {
    feed.hold(true)
    let queued = output.status.measuredLatencyMilliseconds ?? output.status.queueMilliseconds
    let end = monotonic_nanoseconds() + Self.longestFadeOut
    while !feed.isSilent, monotonic_nanoseconds() < end { pauseThread(milliseconds: 5) }
    let rest = Double(end - monotonic_nanoseconds()) * 1e-6
    pauseThread(milliseconds: Int(max(0, min(queued + 5, rest))))
  }

  // MARK: State

  /// Whether the source has been heard to its end; false again after a seek.
  public var isFinished: Bool { conductor.isFinished }

  /// The audible position in the source [s].
  public var position: Double {
    let queued = output.status.measuredLatencyMilliseconds ?? 0
    let isMoving = output.status.state == .playing && !feed.isSilent
    let rendered = Double(feed.sourcePosition) / Double(sampleRate)
    return max(0, rendered - (isMoving ? queued * 1e-3 : 0))
  }

  /// Returns the events since the last call, oldest first, but no more than the latest 1024.
  public func takeEvents() -> [PlayerEvent] { events.take() }

  /// Returns the linear peak and RMS levels of both output channels since the last call.
  public func levels() -> LevelMeter.Levels { feed.renderer.levels() }

  public var status: PlayerStatus {
    let output = output.status
    return PlayerStatus(
      state: state(output), position: position, duration: duration, mode: mode,
      route: route.decision, head: head.poses?.status, tracker: head.connected, output: output,
      volume: volume, mix: mix.map { MixStatus(style: $0.style, amount: $0.amount) },
      loudness: levelBoard?.content.withLock { $0.report },
      mutedFrames: feed.renderer.mutedFrameCount)
  }

  private func state(_ output: AudioOutputStatus) -> PlayerStatus.State {
    if shared.withLock({ $0.isStopped }) { return .stopped }
    if isFinished { return .finished }
    switch output.state {
    case .serverLost, .sinkLost, .serverFrozen, .suspended, .connecting, .idle, .failed:
      return .waitingForOutput
    default: break
    }
    if isPaused { return .paused }
    return feed.isStarved ? .buffering : .playing
  }
}
