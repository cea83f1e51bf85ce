// SPDX-License-Identifier: Apache-2.0

internal import CRealtime
private import Glibc
internal import PulseAudio
internal import SoundServer
private import Synchronization
internal import System

/// Does the work of a recorder's writing thread: passes sound to the sink and reports events.
///
/// ## Threading
/// Call `open` first, then `run` on the writing thread, then `close`. Another thread may call
/// `awaitEnd`.
final class RecordingLoop {
  private static let pauseMilliseconds = 20
  /// How long the loop waits, after a request to stop, for sound from before the request [s].
  private static let stopPatience = 0.08
  /// The interval at which `secondsLeft` is updated [s].
  private static let roomCheckSeconds = 0.5
  /// How much longer than requested a recording may run while it waits for late sound [s].
  private static let latenessSeconds = 1.0
  /// The requested interval between deliveries of sound [ms], without and with a `LiveFeed`.
  private static let interval = (usual: 10.0, listening: 5.0)

  private let configuration: RecorderConfiguration
  private let board: RecorderBoard
  private let onEvent: Recorder.EventReceiver
  private let feed: CaptureFeed
  private let live: LiveFeed?
  private var capture: SourceCapture?
  private var pipeline: RecordingPipeline?
  private var timeline: Timeline?
  private var samples: [Float] = []

  private var input: String
  private var opened: SourceFormat?
  private var isLost = false
  private var changesInput = false
  /// The arrival time of the first block outside a pause or, before that block, the time at which
  /// the source was opened [s]. The duration of each later pause is added.
  private var beganAt = 0.0
  private var hasSound = false
  private var pausedAt: Double?
  private var hasEnded = false
  private var nextRoomCheck = 0.0
  private var secondsLeft: Double?
  private let ended = Atomic(false)

  init(
    _ configuration: RecorderConfiguration, board: RecorderBoard, live: LiveFeed?,
    onEvent: @escaping Recorder.EventReceiver
  ) {
    self.configuration = configuration
    self.board = board
    self.onEvent = onEvent
    input = configuration.sourceName
    self.live = live
    // The buffer holds `bufferSeconds` of 8-channel sound at 48 kHz, or of stereo at 192 kHz.
    feed = CaptureFeed(bytes: Int(configuration.bufferSeconds * 8 * 48_000 * 4), live: live)
  }

  private func makeCapture(_ source: String) throws(SoundServerError) -> SourceCapture {
    try SourceCapture(
      serverAddress: configuration.serverAddress, sourceName: source,
      fragmentMilliseconds: live == nil ? Self.interval.usual : Self.interval.listening,
      receiver: feed)
  }

  // MARK: Start and end

  func open(onBlock: Recorder.BlockReceiver?, makeSink: Recorder.SinkMaker) throws {
    let capture = try makeCapture(input)
    self.capture = capture
    try capture.start()
    guard let first = feed.read(into: &samples), case .opened(let source)? = first.event else {
      throw RecorderError.noFormat
    }
    let microphone = try chosenFormat(source.channelCount)
    let format = RecorderFormat(
      sampleRate: configuration.sampleRate ?? source.sampleRate, layout: microphone.layout)
    let pipeline = RecordingPipeline(
      format: format, microphone: microphone, selection: configuration.selection,
      gain: configuration.gain, sink: try makeSink(format), onBlock: onBlock,
      onGap: { [unowned self] in take($0) })
    if let seconds = configuration.seconds {
      pipeline.limit = Int64((seconds * Double(format.sampleRate)).rounded())
    }
    self.pipeline = pipeline
    live?.prepare(
      LiveConverter.Form(
        microphone: microphone, selection: configuration.selection,
        sampleRate: format.sampleRate))
    timeline = Timeline(output: pipeline)
    beganAt = Self.now
    board.publish {
      $0.sampleRate = format.sampleRate
      $0.input = input
    }
    try begin(source, at: Double(first.header.arrival) * 1e-9)
    post(.started(input: input, sampleRate: source.sampleRate, channelMap: source.channelMap))
  }

  /// Returns the microphone format for a source with `available` channels. Throws an error if that
  /// number of channels does not fit the configuration.
  private func chosenFormat(_ available: Int) throws(RecorderError) -> MicrophoneFormat {
    if let wrong = configuration.selection?.first(where: { $0 < 0 || $0 >= available }) {
      throw .noSuchChannel(wrong, count: available)
    }
    let count = configuration.selection?.count ?? available
    guard let wanted = configuration.microphone else {
      switch count {
      case 1: return .mono
      case 2: return .stereo
      default: throw .unclearChannels(count: count)
      }
    }
    guard wanted.channelCount == count else {
      throw .channelMismatch(expected: wanted.channelCount, found: count)
    }
    return wanted
  }

  func close() {
    capture?.stop()
    capture = nil
  }

  /// Waits until `run` has completed the sink or failed to do so.
  func awaitEnd() {
    while !ended.load(ordering: .acquiring) { usleep(2000) }
  }

  // MARK: The loop

  func run(on worker: Worker) {
    while !hasEnded {
      do { try step() } catch { fail(error) }
      if !hasEnded { worker.sleep(milliseconds: Self.pauseMilliseconds) }
    }
    ended.store(true, ordering: .releasing)
  }

  private static var now: Double { Double(monotonic_nanoseconds()) * 1e-9 }

  private func step() throws {
    guard let pipeline else { return end() }
    let requests = board.requests
    pipeline.gain = requests.gain
    try obey(requests)
    var newest = 0.0
    while !pipeline.isFull, let record = feed.read(into: &samples) {
      let time = Double(record.header.arrival) * 1e-9
      if let event = record.event { try take(event, at: time) }
      try take(record.header, at: time)
      newest = time
      if let stop = requests.stopTime, time >= stop { break }
    }
    let now = Self.now
    pipeline.arrival = Int64(now * 1e9)
    try timeline?.tick(at: now)
    publish(now)
    if let stop = requests.stopTime, newest >= stop || now > stop + Self.stopPatience {
      try finish(at: stop)
    } else if pipeline.isFull {
      try finish(at: now)
    } else if isOverdue(now) {
      try finish(at: now, isOverdue: true)
    }
  }

  /// Returns whether the recording should have ended more than `latenessSeconds` ago; always false
  /// during a pause, or if `RecorderConfiguration.seconds` is nil.
  private func isOverdue(_ now: Double) -> Bool {
    guard let seconds = configuration.seconds, pausedAt == nil else { return false }
    return now - beganAt > seconds + Self.latenessSeconds
  }

  private func finish(at time: Double, isOverdue: Bool = false) throws {
    try timeline?.finish(at: time, isOverdue: isOverdue)
    try pipeline?.finish()
    publish(Self.now)
    board.publish { $0.state = .finished }
    end()
  }

  private func end() {
    hasEnded = true
    capture?.stop()
  }

  private func fail(_ error: any Error) {
    let reason = "\(error)"
    try? pipeline?.finish()
    publish(Self.now)
    board.publish { $0.state = .failed(reason: reason) }
    post(.failed(reason: reason))
    end()
  }

  // MARK: Requests

  private func obey(_ requests: RecorderBoard.Requests) throws {
    let now = Self.now
    if requests.isPaused != (pausedAt != nil) {
      if requests.isPaused {
        pausedAt = now
        try timeline?.pause()
        try pipeline?.flush()
        post(.paused)
      } else {
        beganAt += now - (pausedAt ?? now)
        pausedAt = nil
        timeline?.resume(at: now)
        post(.resumed)
      }
    }
    if let name = board.takeInput(), name != input { try change(to: name) }
  }

  private func change(to name: String) throws {
    capture?.stop()
    // Take the last records of the old capture before the new one starts.
    while let record = feed.read(into: &samples) {
      let time = Double(record.header.arrival) * 1e-9
      if let event = record.event { try take(event, at: time) }
      try take(record.header, at: time)
    }
    input = name
    board.publish { $0.input = name }
    try timeline?.lose(.inputChanged)
    (isLost, changesInput) = (true, true)
    let next = try makeCapture(name)
    capture = next
    next.startWaiting()
    post(.inputChanged(input: name))
  }

  // MARK: Records

  private func take(_ header: BlockRing.Header, at time: Double) throws {
    pipeline?.arrival = header.arrival
    if header.droppedFrames > 0 {
      try timeline?.addHole(frames: Int(header.droppedFrames), cause: .overrun, at: time)
    }
    switch header.kind {
    case .event: break
    case .hole: try timeline?.addHole(frames: Int(header.frames), cause: .dropped, at: time)
    case .block:
      if !hasSound, pausedAt == nil { (hasSound, beganAt) = (true, time) }
      try samples.withUnsafeBufferPointer {
        guard let start = $0.baseAddress else { return }
        try timeline?.add(start, frames: Int(header.frames), at: time)
      }
    }
  }

  private func take(_ event: SourceCaptureEvent, at time: Double) throws {
    switch event {
    case .opened(let format): try reopened(format, at: time)
    case .sourceLost(let reason): try lose(.inputLost, reason)
    case .serverLost(let reason): try lose(.serverLost, reason)
    case .moved(let source):
      try lose(.inputMoved, "the sound server moved the recording to \(source)")
    case .formatChanged: try lose(.formatChanged, "the format of the input changed")
    case .serverFrozen:
      timeline?.suspect(.serverFrozen)
      post(.waiting(.serverFrozen, reason: "the sound server does not answer"))
    case .suspended:
      timeline?.suspect(.suspended)
      post(.waiting(.suspended, reason: "the sound server suspended the input"))
    case .serverThawed, .unsuspended:
      timeline?.clearSuspicion(at: time)
      post(.returned(input: input))
    }
  }

  private func begin(_ source: SourceFormat, at time: Double) throws {
    opened = source
    isLost = false
    try pipeline?.open(channels: source.channelCount, sampleRate: source.sampleRate)
    timeline?.begin(sampleRate: source.sampleRate, channels: source.channelCount, at: time)
  }

  private func reopened(_ format: SourceFormat, at time: Double) throws {
    if !isLost { try timeline?.lose(.inputLost) }
    let isOther =
      format.sampleRate != opened?.sampleRate || format.channelMap != opened?.channelMap
    try begin(format, at: time)
    if isOther, !changesInput {
      post(.formatChanged(sampleRate: format.sampleRate, channelMap: format.channelMap))
    }
    if !changesInput { post(.returned(input: input)) }
    changesInput = false
  }

  private func lose(_ cause: Gap.Cause, _ reason: String) throws {
    try timeline?.lose(cause)
    isLost = true
    post(.waiting(cause, reason: reason))
    if configuration.stopsOnLoss, cause == .inputLost || cause == .serverLost {
      board.request { $0.stopTime = $0.stopTime ?? Self.now }
    }
  }

  // MARK: Reports

  private func take(_ gap: Gap) {
    if gap.cause != .inputChanged {
      board.publish {
        $0.gaps += 1
        $0.gapSeconds += gap.seconds
      }
    }
    post(.gap(gap), at: gap.position)
  }

  private func post(_ kind: RecorderEvent.Kind, at position: Int64? = nil) {
    onEvent(
      RecorderEvent(
        kind: kind, timeNanoseconds: monotonic_nanoseconds(),
        position: position ?? pipeline?.frames ?? 0))
  }

  private func publish(_ now: Double) {
    guard let pipeline, let timeline else { return }
    board.add(pipeline.takeLevels(), pipeline.takeIntensity())
    let isWaiting = timeline.isWaiting(at: now)
    if now >= nextRoomCheck {
      nextRoomCheck = now + Self.roomCheckSeconds
      secondsLeft = pipeline.secondsLeft
    }
    board.publish {
      $0.frames = pipeline.frames
      $0.peak = pipeline.peak
      $0.invalidSamples = pipeline.invalidSamples
      $0.clippedSamples = pipeline.clippedSamples
      $0.driftPartsPerMillion = timeline.drift.partsPerMillion
      $0.bufferFill = feed.fill
      $0.secondsLeft = secondsLeft
      $0.state = pausedAt != nil ? .paused : isWaiting ? .waiting : .recording
    }
  }
}
