// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Capture
import CommandOptions
import CommandSupport
import NetworkTracking
import Playback
import Rendering
import SoundServer

/// Plays the input to the user during `record` or `listen`, and implements `--save-motion`.
final class RecordListening {
  private let command: ParsedCommand
  private let log: EventLog
  private let recorder: Recorder
  private let motion: MotionSaver?
  private let fronts: FrontStore
  /// The sink to play to if the user names none; nil for the default sink.
  private let realSink: String?
  private var format: RecorderFormat?
  private var listener: LiveListener?
  private var delivery: BlockDelivery?
  private var network: PlayedNetworkTracker?
  private var notes: [String] = []
  private var isMotionFailed = false
  private var reportedDrops = 0
  private var reportedPauses = 0
  /// Why `listen` must end: the output is gone or no longer leads to headphones; nil if `listen`
  /// need not end.
  private(set) var loss: String?
  /// The name of the sink that the sound goes to; nil if nothing is heard.
  private(set) var sink: String?

  /// - Parameter sink: the sink to play to if the user names none; nil for the default sink.
  /// - Throws: a failure if the file of `--save-motion` cannot be created.
  init(
    _ command: ParsedCommand, recorder: Recorder, log: EventLog, sink: String?
  ) throws(CommandFailure) {
    (self.command, self.recorder, self.log) = (command, recorder, log)
    realSink = sink
    fronts = FrontStore(isKept: command[Options.keepFront])
    motion = try command[Options.saveMotion].map { (path) throws(CommandFailure) in
      try MotionSaver(path: path)
    }
  }

  /// Whether only headphones may be used.
  private var onlyHeadphones: Bool {
    command.name == .listen
      ? command[Options.listenAnyway] == .auto : command[Options.listen] != .on
  }

  private var isWantedAtStart: Bool {
    command.name == .listen || command[Options.listen] != .off
  }

  func prepare(_ format: RecorderFormat) { self.format = format }

  // MARK: Start and end

  /// Starts the tracker if the command is `listen`, if `--listen` is not `off`, or if
  /// `--save-motion` is given. Call this before the recording begins.
  ///
  /// - Throws: a failure if an option or a file that it names cannot be used, or if the network
  ///   tracker cannot be started.
  func prepareStart() throws(CommandFailure) {
    if motion != nil || isWantedAtStart { _ = try prepareListener() }
  }

  /// Starts listening if the command is `listen`, or if `--listen` is not `off`. Call this after
  /// the recording has begun.
  ///
  /// - Parameter input: the input that is recorded.
  /// - Throws: a failure if the user interrupts the start, or if the command is `listen` and
  ///   nothing can be heard.
  func start(_ input: Input) throws(CommandFailure) {
    guard isWantedAtStart else { return }
    if let refusal = try listen(to: input) {
      if command.name == .listen { throw CommandFailure(refusal) }
      note("you hear nothing: \(refusal)")
    }
  }

  /// Starts or ends listening.
  func toggle(_ input: Input) {
    guard let listener, listener.isListening else {
      do throws(CommandFailure) {
        if let refusal = try listen(to: input) { note("you hear nothing: \(refusal)") }
      } catch { note("you hear nothing: \(error.message ?? "interrupted")") }
      return
    }
    listener.endListening()
    ended("a key")
  }

  /// Ends listening, but not head tracking, which continues until `stop`.
  func endSound() {
    guard let listener, listener.isListening else { return }
    listener.endListening()
    ended("the end of the recording")
  }

  func stop() {
    delivery?.stop()
    endSound()
    if let listener {
      fronts.keep(listener.front)
      listener.stop()
    }
    network?.session.stop()
    (listener, delivery, network) = (nil, nil, nil)
    if let motion { _ = motion.flush() }
  }

  private func prepareListener() throws(CommandFailure) -> LiveListener {
    if let listener { return listener }
    let network = try playedNetworkTracker(command)
    self.network = network
    var options = try playerOptions(command, network)
    options.render = try RenderSettings(ofListening: command)
    options.mode = StageMode(command[Options.mode])
    options.fronts = fronts.read()
    options.sinkName = options.sinkName ?? realSink
    if command.name == .record { options.output = OutputChoice(command[Options.listenServer]) }
    let made = LiveListener(options)
    listener = made
    recorder.monitor { made.receive($0, frames: $1) }
    if let motion { delivery = save(motion, of: made) }
    return made
  }

  /// Adds the pose of the head at the end of each recorded block to `motion`.
  private func save(_ motion: MotionSaver, of listener: LiveListener) -> BlockDelivery {
    recorder.deliver { [weak recorder] block in
      guard let recorder else { return }
      let end = Double(block.position + Int64(block.frames))
      motion.add(
        listener.pose(at: block.timeNanoseconds), at: end / Double(recorder.status.sampleRate))
    }
  }

  /// Begins to listen. Returns the reason if nothing can be heard, otherwise nil.
  private func listen(to input: Input) throws(CommandFailure) -> String? {
    guard let format else { return "the recording has not begun" }
    let listener = try prepareListener()
    do throws(ListeningRefusal) {
      try listener.listen(
        to: LiveSound(layout: format.layout, sampleRate: format.sampleRate),
        onlyHeadphones: onlyHeadphones, monitored: input.monitoredSink)
    } catch {
      switch error {
      case .playback(.interrupted): throw .interrupted
      case .playback(let error): return error.optionText
      case .loudspeakers, .unknownDevice:
        return "\(error.description); use headphones, or listen anyway with '--listen on'"
      case .ownMonitor:
        return "\(error.description); choose another output with '--sink'"
      }
    }
    return nil
  }

  // MARK: Keys

  func recentre() { listener?.recentre() }

  func changeMode() {
    guard let listener else { return }
    listener.mode = listener.mode.next
  }

  // MARK: Reports

  var isListening: Bool { listener?.isListening ?? false }

  /// Handles the listener's events, reports new pauses and lost frames, and writes new poses for
  /// `--save-motion`.
  func attend() {
    if let motion, !isMotionFailed, !motion.flush() {
      isMotionFailed = true
      note(
        "the motion can no longer be written to '\(command[Options.saveMotion] ?? "")'; check the "
          + "disk")
    }
    for event in listener?.takeEvents() ?? [] { take(event) }
    reportPauses()
    let drops = recorder.unheardFrames
    if drops > reportedDrops {
      note(
        "not all sound was heard, because the computer was too slow (frames lost: "
          + "\(drops - reportedDrops))")
      reportedDrops = drops
    }
  }

  /// Writes an event to the log if a lack of frames has paused playback since the last call.
  private func reportPauses() {
    guard let listener, listener.pauses > reportedPauses else { return }
    reportedPauses = listener.pauses
    log.write(
      "listening",
      [
        "state": .text("pause"), "pauses": .integer(reportedPauses),
        "delayMs": .number(listener.delayMilliseconds ?? 0),
      ])
  }

  /// Returns the notes since the last call. They do not end with a full stop.
  func takeNotes() -> [String] {
    defer { notes = [] }
    return notes
  }

  private func note(_ text: String) { notes.append(text) }

  private func take(_ event: LiveListener.Event) {
    switch event {
    case .began(let sink):
      self.sink = sink.name
      let delay = listener?.delayMilliseconds
      note("you hear the input on '\(sink.description.isEmpty ? sink.name : sink.description)'")
      var values: [String: EventLog.Value] = ["state": .text("on"), "sink": .text(sink.name)]
      if let delay { values["delayMs"] = .number(delay) }
      log.write("listening", values)
    case .ended(let reason):
      if command.name == .listen {
        loss = "you no longer hear the input: \(reason)"
      } else {
        note("you no longer hear the input: \(reason)")
      }
      ended(reason)
    case .player(let event): take(event)
    }
  }

  private func ended(_ reason: String) {
    sink = nil
    log.write(
      "listening",
      [
        "state": .text("off"), "reason": .text(reason),
        "pauses": .integer(listener?.pauses ?? 0),
      ])
  }

  private func take(_ event: PlayerEvent) {
    switch event {
    case .tracker(let event): if let text = event.note { note(text) }
    case .deviceTracker(let event): if let text = event.deviceNote { note(text) }
    case .warning(let text): note(text)
    case .modeChanged(let mode): note("mode: \(mode.rawValue)")
    case .routeChanged(let decision): note(decision.text)
    case .output(let event):
      if case .underrun(let total) = event.kind {
        log.write("underrun", ["total": .integer(total)])
      }
    default: break
    }
  }
}
