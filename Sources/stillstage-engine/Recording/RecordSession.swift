// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CRealtime
import Capture
import CommandOptions
import CommandSupport
import Glibc
import Loudness
import PulseAudio
import Rendering
import Synchronization

/// A recording on the terminal: keys, status line, events and the last line.
final class RecordSession {
  private static let gainStep = 1.0
  /// The time before the disk is full at which a warning is due [s].
  private static let warningSeconds = 60.0

  private let settings: RecordSettings
  private let command: ParsedCommand
  private let log: EventLog
  private let console: Console
  private let recorder: Recorder
  private let queue = EventQueue()
  private let loudness = RecordingLoudness()
  private let inputs: Inputs?
  private var line = RecordLine()
  private var gainDecibels: Double
  private var current: Input
  private var isSubstitute: Bool
  private var hasWarned = false
  private var bytesPerSecond = 0.0

  init(
    _ settings: RecordSettings, input: Input, command: ParsedCommand, log: EventLog,
    console: Console
  ) {
    (self.settings, self.command, self.log, self.console) = (settings, command, log, console)
    current = input
    isSubstitute = settings.remembered.map { $0 != input.name } ?? false
    if case .named = settings.choice { isSubstitute = false }
    gainDecibels = command[Options.recordGain]
    var configuration = RecorderConfiguration(sourceName: input.name)
    configuration.microphone = settings.microphone
    configuration.selection = settings.selection
    configuration.sampleRate = command[Options.recordRate]
    configuration.gain = Self.amplitude(gainDecibels)
    configuration.seconds = command[Options.recordSeconds]
    configuration.stopsOnLoss = command[Options.onLoss] == .stop
    let (queue, loudness) = (queue, loudness)
    recorder = Recorder(
      configuration, onBlock: { loudness.add($0) }, onEvent: { queue.add($0) })
    if command[Options.armed] { recorder.isPaused = true }
    inputs = try? Inputs()
  }

  private static func amplitude(_ decibels: Double) -> Float {
    decibels == 0 ? 1 : Float(pow(10, decibels / 20))
  }

  /// Records until the user, a signal, the limit or an error ends the recording.
  func run() throws(CommandFailure) {
    try start()
    var isEnding = false
    while !isEnding, !recorder.isFinished, Signals.received == nil {
      for key in console.keys(waitMilliseconds: 50) where obey(key) { isEnding = true }
      report()
    }
    let final = recorder.stop()
    report()
    console.clear()
    console.restore()
    try finish(final)
  }

  private func start() throws(CommandFailure) {
    do {
      try recorder.start { format in
        loudness.prepare(format)
        bytesPerSecond = Double(format.sampleRate * format.channelCount * (settings.isFloat ? 4 : 3))
        return try settings.sink(format, command)
      }
    } catch let error as PulseAudioError {
      throw CommandFailure(error.message.withoutControls)
    } catch let error as CommandFailure {
      throw error
    } catch { throw CommandFailure("\(error)".withoutControls) }
  }

  // MARK: Keys

  /// Performs the action of a key. Returns true if it ends the recording.
  private func obey(_ key: Console.Key) -> Bool {
    switch key {
    case .pause: recorder.isPaused.toggle()
    case .next: changeInput()
    case .plus, .louder: changeGain(by: Self.gainStep)
    case .minus, .softer: changeGain(by: -Self.gainStep)
    case .quit: return true
    default: break
    }
    return false
  }

  private func changeGain(by step: Double) {
    gainDecibels = max(-60, min(60, gainDecibels + step))
    recorder.gain = Self.amplitude(gainDecibels)
    log.write("gain", ["db": .number(gainDecibels)])
  }

  private func changeInput() {
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
    returnToRemembered()
    let status = recorder.status
    let levels = recorder.takeLevels()
    let free = freeSeconds()
    if let free, free < Self.warningSeconds, !hasWarned {
      hasWarned = true
      note("the disk will be full in \(decimal(free, 0)) s; free some space")
      log.warning("the disk will be full in \(decimal(free, 0)) s")
    }
    line.add(levels, at: Double(monotonic_nanoseconds()) * 1e-9)
    guard console.isInteractive else { return }
    console.show(
      line.text(
        status, levels: levels, gainDecibels: gainDecibels, freeSeconds: free,
        isArmed: command[Options.armed] && status.frames == 0))
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

  /// Returns to the remembered input when it is back.
  private func returnToRemembered() {
    guard isSubstitute, let name = settings.remembered,
      let input = inputs?.current.first(where: { $0.name == name })
    else { return }
    isSubstitute = false
    note("the remembered input '\(name)' is back")
    change(to: input)
  }

  /// The time for which the file system has room; nil if it is not known.
  private func freeSeconds() -> Double? {
    var status = statvfs()
    guard bytesPerSecond > 0, statvfs(settings.output, &status) == 0 || statFolder(&status) else {
      return nil
    }
    return Double(status.f_bavail) * Double(status.f_frsize) / bytesPerSecond
  }

  private func statFolder(_ status: inout statvfs) -> Bool {
    let folder = settings.output.lastIndex(of: "/").map { settings.output[..<$0] } ?? "."
    return statvfs(folder.isEmpty ? "/" : String(folder), &status) == 0
  }

  private func finish(_ status: RecorderStatus) throws(CommandFailure) {
    if case .failed(let reason) = status.state {
      throw CommandFailure(reason.withoutControls)
    }
    let summary = RecordSummary(status, loudness: loudness.integrated)
    log.write("end", summary.values)
    try printOutput("\(settings.output): \(summary.text)".withoutControls + "\n")
    if Signals.received != nil { throw .interrupted }
    if command[Options.onLoss] == .stop, status.state == .finished, queue.hasLost {
      throw CommandFailure("the input was lost; the recording ends there")
    }
  }
}

/// The events of a recorder, passed from its thread to the main thread.
final class EventQueue: Sendable {
  private let events = Mutex<(waiting: [RecorderEvent], hasLost: Bool)>(([], false))

  func add(_ event: RecorderEvent) {
    events.withLock {
      $0.waiting.append(event)
      if case .waiting(let cause, _) = event.kind, cause == .inputLost || cause == .serverLost {
        $0.hasLost = true
      }
    }
  }

  var hasLost: Bool { events.withLock { $0.hasLost } }

  func take() -> [RecorderEvent] {
    events.withLock { events in
      defer { events.waiting = [] }
      return events.waiting
    }
  }
}

/// The loudness of a recording: of all channels of mono and stereo, or of W of a soundfield.
final class RecordingLoudness: @unchecked Sendable {
  private let lock = Mutex(())
  private var meter: LoudnessMeter?

  func prepare(_ format: RecorderFormat) {
    let weights = ChannelWeight.all(format.layout) ?? [.main]
    lock.withLock { _ in
      meter = LoudnessMeter(weights: weights, sampleRate: format.sampleRate)
    }
  }

  func add(_ block: RecordedBlock) {
    lock.withLock { _ in meter?.add(block.planes, frames: block.frames) }
  }

  /// LUFS; nil for silence.
  var integrated: Double? { lock.withLock { _ in meter?.integrated } }
}
