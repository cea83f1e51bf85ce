// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
private import Binaural
private import CRealtime
private import Geometry
private import HeadTracking
private import Media
private import PulseAudio
public import SignalProcessing
private import Synchronization

/// Plays a source over headphones, with the stage standing still while the head moves.
///
/// ```swift
/// let player = try Player(path: "concert.flac")
/// try player.start()
/// while !player.isFinished { usleep(100_000) }
/// player.stop()
/// ```
///
/// ## Threading
/// All of it may be used from any thread. The source is read on a thread of the player's own.
public final class Player: @unchecked Sendable {
  /// Of playing, Hz: the sink's own, so that the server need not resample.
  public let sampleRate: Int
  public let title: String?
  /// What the listener should be told before it plays, a sentence each.
  public let notes: [String]

  private let options: PlayerOptions
  /// Whether the source is a soundfield, which has an order of its own and no loudspeakers.
  public let isAmbisonic: Bool
  private let canBeSpatial: Bool
  private let duration: Double?
  private let feed: RenderFeed
  private let output: AudioOutput
  private let conductor: Conductor
  private let head: StageHead
  private let poseSource: HeadPoseSource?
  private let tracker: TrackerSession?
  private let device: TrackerSession?
  private let events: EventQueue
  private let redesigner: Redesigner
  private let shared = Mutex(Shared())

  /// The id of the tracker that was connected last.
  private final class TrackerMemory: Sendable {
    let id = Mutex<String?>(nil)
  }
  private let memory = TrackerMemory()

  private struct Shared {
    var mode = StageMode.tracked
    var isStopped = false
    var settings = RenderSettings()
  }

  /// A player for a file.
  public convenience init(
    path: String, options: PlayerOptions = PlayerOptions()
  ) throws(PlaybackError) {
    try self.init(options: options) { rate throws(PlaybackError) in
      try FileSource(path: path, settings: options.render, sampleRate: rate)
    }
  }

  /// A player for any source.
  ///
  /// - Parameters:
  ///   - options: how it is played.
  ///   - makeSource: makes the source at the rate of playing, in Hz.
  public init(
    options: PlayerOptions, makeSource: (_ sampleRate: Int) throws(PlaybackError) -> any SoundSource
  ) throws(PlaybackError) {
    let rate = try Self.sinkRate(options)
    let source = try prepared(makeSource(rate), settings: options.render)
    let hrtf = try HRTFChoice(path: options.render.hrtfPath, interrupt: options.interrupt)
    let settings = options.render
    let filters = try hrtf.filters(
      for: source.layout, settings: settings, sampleRate: Double(rate))
    self.options = options
    sampleRate = rate
    title = source.title
    notes = hrtf.notes
    duration = source.duration.map { Double($0) / Double(rate) }
    if case .ambisonics = source.layout { isAmbisonic = true } else { isAmbisonic = false }
    canBeSpatial = settings.spatialization.includes(source.layout)
    events = EventQueue()
    (head, poseSource, tracker) = Self.makeHead(options, events, memory)
    device = Self.makeDevice(options, poseSource, events)
    let renderer = Renderer(
      layout: source.layout, filters: filters, busOrder: settings.busOrder,
      blockFrames: settings.blockFrames,
      mode: canBeSpatial && options.mode != .off ? .spatial : .plain, finish: .safe,
      rewritableSeconds: canBeSpatial && head.becomesKnown && options.rewriting != .never ? 0.5 : 0)
    let ring = FrameRing(channelCount: source.layout.channelCount, capacity: rate * 2)
    feed = RenderFeed(ring: ring, renderer: renderer, head: head)
    feed.volume = linearGain(decibels: settings.gainDecibels)
    output = try Self.makeOutput(options, rate, feed)
    let (predicted, told, heard) = (poseSource, events, output)
    if renderer.isRewritable {
      poseSource?.observe { [weak heard] in
        heard?.refresh()
        return heard != nil
      }
    }
    predicted?.prediction = options.prediction.pose(for: options.sinkName ?? "")
    conductor = Conductor(source: source, feed: feed, output: output) { event in
      if let sink = event.newSink {
        let status = heard.status
        predicted?.prediction = options.prediction.pose(
          for: sink, queue: status.isLatencyApproximate ? status.queueMilliseconds : nil)
      }
      told.add(event)
    }
    head.isFollowed = options.mode == .tracked
    redesigner = Redesigner(renderer: renderer, layout: source.layout, tell: events.add)
    head.settle()
    shared.withLock {
      $0.mode = options.mode
      $0.settings = settings
    }
  }

  deinit { stop() }

  // MARK: Playing

  /// Connects to the sound server and begins to play.
  ///
  /// - Throws: `PlaybackError.sound` where no server answers within 2 s.
  public func start() throws(PlaybackError) {
    tracker?.start()
    device?.start()
    conductor.start()
    do throws(PulseAudioError) {
      try output.start()
    } catch {
      stop()
      throw .sound(error)
    }
  }

  /// Fades out, then holds; nothing of the source is lost.
  public func pause() { conductor.wishes.withLock { $0.isPaused = true } }

  /// Goes on after `pause`, from silence within 50 ms.
  public func resume() { conductor.wishes.withLock { $0.isPaused = false } }

  public var isPaused: Bool { conductor.wishes.withLock { $0.isPaused } }

  /// Goes to a moment of the source, in seconds; before its start or past its end is brought there.
  public func seek(toSeconds seconds: Double) {
    let limited = max(0, min(seconds, duration ?? seconds))
    guard limited.isFinite else { return }
    conductor.wishes.withLock { $0.seek = Int(limited * Double(sampleRate)) }
  }

  /// Goes forwards, or backwards where negative.
  public func skip(bySeconds seconds: Double) {
    let pending = conductor.wishes.withLock { $0.seek }.map { Double($0) / Double(sampleRate) }
    seek(toSeconds: (pending ?? position) + seconds)
  }

  /// Linear gain, 0 to 10 (+20 dB); a change takes 50 ms.
  public var volume: Float {
    get { feed.volume }
    set { feed.volume = min(10, max(0, newValue)) }
  }

  /// What the stage follows; a change is smooth.
  public var mode: StageMode {
    get { shared.withLock { $0.mode } }
    set {
      shared.withLock { $0.mode = newValue }
      feed.renderer.mode = canBeSpatial && newValue != .off ? .spatial : .plain
      head.isFollowed = newValue == .tracked
      output.refresh()
      events.add(.modeChanged(newValue))
    }
  }

  /// How the sound is decoded, as it was wished last.
  public var decoding: RenderSettings { shared.withLock { $0.settings } }

  /// Changes HRTF set, equalisation, decoder design and bus order while playing; what else is in the
  /// settings stays. The decoder is designed on a thread of its own and faded in without a click;
  /// `.decoderChanged` or `.decoderKept` tells when.
  public func decode(by settings: RenderSettings) {
    let wish = shared.withLock { shared in
      shared.settings.hrtfPath = settings.hrtfPath
      shared.settings.equalisation = settings.equalisation
      shared.settings.method = settings.method
      shared.settings.isDirect = settings.isDirect
      shared.settings.isParametric = settings.isParametric
      shared.settings.busOrder = settings.busOrder
      return shared.settings
    }
    redesigner.wish(wish)
  }

  /// The direction in which the head looks now becomes the front of the stage, within 0.4 s.
  public func recenter() { poseSource?.recenter() }

  /// The tracker used last and the yaw of the front in its own world, radians; nil where there is
  /// none, and while the front is a device's.
  public var front: (tracker: String, yaw: Double)? {
    guard let id = memory.id.withLock({ $0 }), let yaw = poseSource?.front else { return nil }
    return (id, yaw)
  }

  /// Fades out and ends, within half a second. The player cannot be started again.
  public func stop() {
    let isFirst = shared.withLock { shared in
      defer { shared.isStopped = true }
      return !shared.isStopped
    }
    guard isFirst else { return }
    redesigner.stop()
    conductor.stop()
    if output.status.state == .playing { fadeOut() }
    output.stop()
    tracker?.stop()
    device?.stop()
  }

  private func fadeOut() {
    feed.hold(true)
    let queued = output.status.measuredLatencyMilliseconds ?? output.status.queueMilliseconds
    let end = monotonic_nanoseconds() + 400_000_000
    while !feed.isSilent, monotonic_nanoseconds() < end { pauseThread(milliseconds: 5) }
    let rest = Double(end - monotonic_nanoseconds()) * 1e-6
    pauseThread(milliseconds: Int(max(0, min(queued + 5, rest))))
  }

  // MARK: What is going on

  /// True once all of the source has been heard.
  public var isFinished: Bool { conductor.isFinished }

  /// Seconds of the source that have been heard.
  public var position: Double {
    let queued = output.status.measuredLatencyMilliseconds ?? 0
    let isMoving = output.status.state == .playing && !feed.isSilent
    let rendered = Double(feed.sourcePosition) / Double(sampleRate)
    return max(0, rendered - (isMoving ? queued * 1e-3 : 0))
  }

  /// What happened since the last call, oldest first.
  public func takeEvents() -> [PlayerEvent] { events.take() }

  /// Peak and rms of both ears since the last call.
  public func levels() -> LevelMeter.Levels { feed.renderer.levels() }

  public var status: PlayerStatus {
    let output = output.status
    return PlayerStatus(
      state: state(output), position: position, duration: duration, mode: mode,
      head: poseSource?.status, tracker: tracker?.tracker, output: output, volume: volume,
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

  // MARK: Making the parts

  private static func sinkRate(_ options: PlayerOptions) throws(PlaybackError) -> Int {
    do throws(PulseAudioError) {
      let sinks = try SinkList.read(serverAddress: options.serverAddress)
      if let name = options.sinkName {
        guard let sink = sinks.first(where: { $0.name == name }) else {
          throw .unknownSink(name: name, available: sinks.map(\.name))
        }
        return usable(sink.sampleRate)
      }
      return usable((sinks.first { $0.isDefault } ?? sinks.first)?.sampleRate ?? 0)
    } catch { throw .sound(error) }
  }

  private static func usable(_ rate: Int) -> Int {
    AudioTrack.sampleRates.contains(rate) ? rate : 48000
  }

  private static func makeHead(
    _ options: PlayerOptions, _ events: EventQueue, _ memory: TrackerMemory
  ) -> (StageHead, HeadPoseSource?, TrackerSession?) {
    let choice = options.head
    switch choice {
    case .none: return (StageHead(.none), nil, nil)
    case .recorded(let trajectory): return (StageHead(.recorded(trajectory)), nil, nil)
    case .source(let source): return (StageHead(.source(source)), source, nil)
    case .automatic, .tracker:
      let source = HeadPoseSource()
      var wanted = TrackerChoice.automatic
      if case .tracker(let id) = choice { wanted = .id(id) }
      let fronts = options.fronts
      let heard: @Sendable (TrackerEvent) -> Void = { event in
        if case .connected(let tracker) = event {
          let isFirst = memory.id.withLock { id in
            defer { id = tracker.id }
            return id == nil
          }
          // A tracker that begins anew within a play has lost its north.
          if isFirst, let front = fronts[tracker.id] { source.keepFront(front) }
        }
        events.add(.tracker(event))
      }
      let session = TrackerSession(
        wanted, feeding: source, settings: options.trackerSettings, onEvent: heard,
        calibration: options.calibration)
      return (StageHead(.source(source)), source, session)
    }
  }

  /// The session of the tracker that the stage stands still in.
  private static func makeDevice(
    _ options: PlayerOptions, _ source: HeadPoseSource?, _ events: EventQueue
  ) -> TrackerSession? {
    guard let id = options.deviceTracker, let source else { return nil }
    return TrackerSession(
      .id(id), feeding: HeadPoseSource(deviceOf: source), settings: options.trackerSettings,
      onEvent: { events.add(.deviceTracker($0)) }, calibration: options.calibration)
  }

  private static func makeOutput(
    _ options: PlayerOptions, _ rate: Int, _ feed: RenderFeed
  ) throws(PlaybackError) -> AudioOutput {
    var configuration = AudioOutputConfiguration()
    configuration.serverAddress = options.serverAddress
    configuration.sinkName = options.sinkName
    configuration.sampleRate = rate
    configuration.latencyMilliseconds = options.latencyMilliseconds
    configuration.rewriting = options.rewriting
    do throws(PulseAudioError) {
      let canRewrite = feed.renderer.isRewritable
      return try AudioOutput(
        configuration, render: canRewrite ? feed.rewritingCallback : feed.callback)
    } catch { throw .sound(error) }
  }
}
