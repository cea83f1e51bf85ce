// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CRealtime
import Capture
import Charts
import CommandOptions
import CommandSupport
import DBus
import Glibc
import Loudness
import PulseAudio
import Rendering
import SoundServer
import Synchronization

/// Runs `record` or `listen` on the terminal: keys, status line, events and summary.
final class RecordSession {
  private static let gainStep = 1.0
  /// The user is warned when the free disk space will last for less than this time: 60 s plus the
  /// interval at which the free space is measured.
  private static let warningSeconds = 60.5

  private let settings: RecordSettings
  private let command: ParsedCommand
  private let log: EventLog
  private let console: Console
  private let recorder: Recorder
  private let queue = EventQueue()
  private let loudness = RecordingLoudness()
  private let picture: RecordPicture?
  private let listening: RecordListening
  private let keys = MediaKeys()
  private let inputs: Inputs?
  private var line = RecordLine()
  private var gainDecibels: Double
  private var current: Input
  private var isSubstitute: Bool
  private let isFixed: Bool
  private let isVoice: Bool
  private var hasWarned = false

  init(
    _ settings: RecordSettings, input: Input, _ preparation: InputPreparation,
    command: ParsedCommand, log: EventLog, console: Console
  ) throws(CommandFailure) {
    (self.settings, self.command, self.log, self.console) = (settings, command, log, console)
    current = input
    isSubstitute = settings.remembered.map { $0 != input.name } ?? false
    if case .named = settings.choice { isSubstitute = false }
    if preparation.isFixed { isSubstitute = false }
    (isFixed, isVoice) = (preparation.isFixed, preparation.realSink != nil)
    gainDecibels = command[Options.recordGain]
    var configuration = RecorderConfiguration(sourceName: input.name)
    configuration.microphone = settings.microphone
    configuration.selection = settings.selection
    configuration.sampleRate = command[Options.recordRate]
    configuration.gain = Self.amplitude(gainDecibels)
    configuration.seconds = command[Options.recordSeconds]
    configuration.stopsOnLoss = command[Options.onLoss] == .stop
    // The key l may start listening at any time.
    configuration.canBeMonitored =
      command.name == .listen || command[Options.listen] != .off || console.readsKeys
    let picture = command[Options.chart] != nil ? RecordPicture() : nil
    self.picture = picture
    let (queue, loudness) = (queue, loudness)
    recorder = Recorder(
      configuration,
      onBlock: { block in
        loudness.add(block)
        picture?.add(block)
      }, onEvent: { queue.add($0) })
    listening = try RecordListening(
      command, recorder: recorder, log: log, sink: preparation.realSink)
    if command[Options.armed] { recorder.isPaused = true }
    inputs = try? Inputs()
  }

  private static func amplitude(_ decibels: Double) -> Float {
    decibels == 0 ? 1 : Float(pow(10, decibels / 20))
  }

  /// Records until the recorder finishes, the user or a signal ends the recording, or `listen`
  /// loses its output.
  func run() throws(CommandFailure) {
    try start()
    defer { listening.stop() }
    do throws(CommandFailure) { try listening.start(current) } catch {
      recorder.stop()
      throw error
    }
    // After a signal, completing the file and restoring the sound server's settings can take time.
    SignalDeadline.allow(milliseconds: isFixed ? InputPreparation.patience : 3000)
    var isEnding = false
    while !isEnding, !recorder.isFinished, listening.loss == nil, Signals.received == nil {
      for key in console.keys(waitMilliseconds: 50) where obey(key) { isEnding = true }
      for command in keys.take() where obey(command) { isEnding = true }
      report()
    }
    keys.stop()
    listening.endSound()
    let final = recorder.stop()
    listening.stop()
    report()
    console.clear()
    console.restore()
    try finish(final)
    if let loss = listening.loss { throw CommandFailure(loss) }
  }

  private func start() throws(CommandFailure) {
    if command[Options.armed], !console.readsKeys, !keys.areAvailable {
      throw CommandFailure(
        "nothing can start the recording: no keys can be read from a terminal, and media keys are "
          + "not available; omit '--armed'")
    }
    try listening.prepareStart()
    do {
      try recorder.start { format in
        loudness.prepare(format)
        listening.prepare(format)
        picture?.prepare(format)
        return try settings.sink(format, command)
      }
    } catch let error as SoundServerError {
      throw CommandFailure(error.message.withoutControls)
    } catch let error as CommandFailure {
      throw error
    } catch { throw CommandFailure("\(error)".withoutControls) }
  }

  // MARK: Keys

  /// Performs a key's action. Returns true if the key ends the recording.
  private func obey(_ key: Console.Key) -> Bool {
    switch key {
    case .pause: setPaused(!isPaused)
    case .next: changeInput()
    case .listen where command.name == .record: listening.toggle(current)
    case .recenter: listening.recentre()
    case .mode: listening.changeMode()
    case .plus, .louder: changeGain(by: Self.gainStep)
    case .minus, .softer: changeGain(by: -Self.gainStep)
    case .quit: return true
    default: break
    }
    return false
  }

  /// Performs a media key's command. Returns true if the command ends the recording.
  private func obey(_ command: MediaControls.Command) -> Bool {
    switch command {
    case .playPause: setPaused(!isPaused)
    case .play: setPaused(false)
    case .pause: setPaused(true)
    case .next: changeInput()
    case .stop: return true
    case .previous: break
    }
    return false
  }

  /// Whether the recording is paused or, for `listen`, whether nothing is heard.
  private var isPaused: Bool {
    command.name == .listen ? !listening.isListening : recorder.isPaused
  }

  private func setPaused(_ isPaused: Bool) {
    guard isPaused != self.isPaused else { return }
    if command.name == .listen { listening.toggle(current) } else { recorder.isPaused = isPaused }
  }

  private func changeGain(by step: Double) {
    gainDecibels = max(-60, min(60, gainDecibels + step))
    recorder.gain = Self.amplitude(gainDecibels)
    log.write("gain", ["db": .number(gainDecibels)])
  }

  private func changeInput() {
    guard !isVoice else { return note("the input cannot be changed in voice mode") }
    let all = (inputs?.current ?? []).filter { !$0.isMonitor }
    guard !all.isEmpty else { return }
    let now = all.firstIndex { $0.name == current.name } ?? -1
    let next = all[(now + 1) % all.count]
    guard next.name != current.name else { return }
    isSubstitute = false
    change(to: next)
  }

  private func change(to input: Input) {
    current = input
    recorder.change(to: input.name)
  }

  // MARK: Reports

  private func report() {
    for event in queue.take() { tell(event) }
    listening.attend()
    for text in listening.takeNotes() { note(text) }
    returnToRemembered()
    let status = recorder.status
    keys.set(isPaused ? .paused : .playing)
    let levels = recorder.takeLevels()
    let free = status.secondsLeft
    // In the first second, the size of compressed sound is not known yet.
    if let free, free < Self.warningSeconds, status.seconds > 1, !hasWarned {
      hasWarned = true
      note("the disk may be full in \(decimal(free, 0)) s; free some space")
      log.warning("the disk may be full in \(decimal(free, 0)) s")
    }
    line.add(levels, at: Double(monotonic_nanoseconds()) * 1e-9)
    guard console.isInteractive else { return }
    console.show(
      line.text(
        status, levels: levels, gainDecibels: gainDecibels, freeSeconds: free,
        isArmed: command[Options.armed] && status.frames == 0)
        + listeningText)
  }

  private var listeningText: String {
    if command.name == .listen { return listening.isListening ? "" : "  muted" }
    return listening.isListening ? "  listening" : ""
  }

  private func tell(_ event: RecorderEvent) {
    let record = RecorderEventText(event, sampleRate: recorder.status.sampleRate)
    log.write(record.name, record.values)
    if let text = record.note { note(text) }
  }

  private func note(_ text: String) {
    console.clear()
    printNote(text.withoutControls)
  }

  /// If a substitute for the remembered input is being recorded, changes to the remembered input
  /// when that input is available again.
  private func returnToRemembered() {
    guard isSubstitute, let name = settings.remembered,
      let input = inputs?.current.first(where: { $0.name == name && !$0.isMonitor })
    else { return }
    isSubstitute = false
    note("the remembered input '\(name)' is available again")
    change(to: input)
  }

  private func finish(_ status: RecorderStatus) throws(CommandFailure) {
    if case .failed(let reason) = status.state {
      try? drawPicture()
      throw CommandFailure(reason.withoutControls)
    }
    let summary = RecordSummary(status, loudness: loudness.integrated)
    log.write("end", summary.values)
    if let output = settings.output {
      try printOutput("\(output): \(summary.text)".withoutControls + "\n")
    }
    try drawPicture()
    if Signals.received != nil { throw .interrupted }
    if command[Options.onLoss] == .stop, status.state == .finished, queue.hasLost {
      throw CommandFailure(
        "the recording ended because the input or the sound server was lost; the file contains the "
          + "sound up to then")
    }
  }

  private func drawPicture() throws(CommandFailure) {
    guard let picture, let path = command[Options.chart] else { return }
    do throws(ChartError) {
      try picture.chart(title: (settings.output ?? "").withoutControls).write(to: path)
    } catch { throw CommandFailure(error.description) }
  }
}
