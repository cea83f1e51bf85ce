// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import AudioMix
import CommandOptions
import CommandSupport
import Geometry
import Glibc
import HLS
import HeadTracking
import Media
import Playback
import Rendering
import SoundSources

func renderCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let settings = try RenderSettings(command)
  let output = command[Options.renderOutput]
  try refuseOverwriting(
    [command[Arguments.input], settings.hrtfPath, command[Options.motion]],
    by: [output, command[Options.events]])
  try requireWAVName(output)
  // A pose on the command line takes precedence over a recording among the user's defaults.
  let wantsPose = command.isGiven(Options.pose)
  if wantsPose, command.isGiven(Options.motion) {
    throw .usage("--pose cannot be combined with --motion; omit one of them")
  }
  if command[Options.renderTarget] == .ambienceAndSpeech { try refuseStem(settings) }
  let target = OutputLayout(command[Options.renderTarget])
  if target != nil, command.isGiven(Options.limiter), command[Options.limiter] {
    throw .usage("'--limiter on' works only with --to binaural; omit --limiter for other layouts")
  }
  let head =
    try (wantsPose ? nil : recordedHead(command))
    ?? command[Options.pose].map { HeadTrajectory($0.quaternion) }
  let input = try SoundInput(command, settings, follows: false)
  let source = try playing { () throws(PlaybackError) in
    try during("opening the input") { () throws(PlaybackError) in
      try input.open(command[Options.rate])
    }
  }
  try checkWritable(output)
  if let note = mixNote(source, settings) { printNote(note) }
  let hrtf = try playing { () throws(PlaybackError) in
    try during("reading the HRTF set") { () throws(PlaybackError) in
      try HRTFChoice(path: settings.hrtfPath, interrupt: Signals.interrupt)
    }
  }
  var levelled = settings
  var measured: LoudnessMeasurement?
  if let loudness = command[Options.renderLoudness].target {
    measured = try measureLoudness(command, input, head: head, hrtf: hrtf, settings: settings)
    if let measured { levelled.gainDecibels += loudness - measured.ears }
  }
  let sound = try playing { () throws(PlaybackError) -> any RenderedSound in
    if command[Options.renderTarget] == .ambienceAndSpeech {
      return try AmbienceAndSpeechRenderer(source: source, head: head, settings: levelled)
    }
    if let target {
      return try LayoutRenderer(source: source, target: target, head: head, settings: levelled)
    }
    return try during("designing the decoder") { () throws(PlaybackError) in
      try OfflineRenderer(
        source: source, head: head ?? HeadTrajectory(.identity), hrtf: hrtf, settings: levelled,
        isLimited: command[Options.limiter])
    }
  }
  // Opening truncates an existing log, so it must follow all checks of the input and the options.
  let events = try EventLog(path: command[Options.events])
  for note in hrtf.notes where target == nil { printNote(note) }
  if command[Options.renderLoudness].target != nil {
    note(measured, gain: levelled.gainDecibels - settings.gainDecibels, command, in: events)
  }
  try renderToFile(sound, path: output)
  for change in sound.layoutChanges {
    let place = clockText(change.seconds)
    printNote("the channel layout of the source changes to \(change.layout.name) at \(place)")
    events.write(
      "layout", ["layout": .text(change.layout.name), "seconds": .number(change.seconds)])
  }
  for warning in source.warnings {
    printNote(warning)
    events.warning(warning)
  }
  if sound.mutedFrameCount > 0 {
    let text = mutedText(sound.mutedFrameCount)
    printNote(text)
    events.warning(text)
  }
  try input.requireWhole(source)
}

/// Throws a usage error if the name of the output file belongs to another audio format.
private func requireWAVName(_ path: String) throws(CommandFailure) {
  let others = [
    ".aac", ".aif", ".aiff", ".flac", ".m4a", ".mka", ".mov", ".mp3", ".mp4", ".ogg", ".opus",
  ]
  guard let suffix = others.first(where: path.lowercased().hasSuffix) else { return }
  throw .usage(
    "render writes WAV files, not \(suffix); choose a name that ends in .wav, and convert the file "
      + "afterwards, for example with ffmpeg")
}

/// Throws a usage error if the style is a single stem.
func refuseStem(_ settings: RenderSettings) throws(CommandFailure) {
  guard let style = settings.mix?.style, style.isStem else { return }
  throw .usage(
    "--to foa+speech works with the styles standard, cinematic, studio and in-frame, not with the "
      + "stem \(style.rawValue); choose one of these styles")
}

func mutedText(_ count: Int) -> String {
  "\(count) \(count == 1 ? "frame" : "frames") with invalid samples (NaN, infinite or huge) "
    + "\(count == 1 ? "was" : "were") muted"
}

/// Returns the loudness of the binaural output at a gain of 0 dB; nil if the output is too quiet.
private func measureLoudness(
  _ command: ParsedCommand, _ input: SoundInput, head: HeadTrajectory?, hrtf: HRTFChoice,
  settings: RenderSettings
) throws(CommandFailure) -> LoudnessMeasurement? {
  var plain = settings
  plain.gainDecibels = 0
  let offline = try playing { () throws(PlaybackError) in
    try during("designing the decoder") { () throws(PlaybackError) in
      try OfflineRenderer(
        source: input.open(command[Options.rate]), head: head ?? HeadTrajectory(.identity),
        hrtf: hrtf, settings: plain, isLimited: false)
    }
  }
  var progress = Progress(total: offline.frames, doing: "measured")
  defer { progress.end() }
  return try playing { () throws(PlaybackError) in
    try offline.measureLoudness { frames in
      progress.advance(by: frames)
      return Signals.received == nil
    }
  }
}

/// Logs the measured loudness, the gain and the true peak after all gains. Prints a note if this
/// peak exceeds -1 dBTP and the limiter is off. If the sound is too quiet to measure, prints a note
/// about that and logs nothing.
private func note(
  _ measured: LoudnessMeasurement?, gain: Double, _ command: ParsedCommand, in events: EventLog
) {
  guard let measured else {
    return printNote("the sound is silent or too quiet to measure; its level is not adjusted")
  }
  var values: [String: EventLog.Value] = [
    "gain": .number(gain), "loudness": .number(measured.ears), "origin": .text("scan"),
  ]
  let peak = measured.truePeak.map { $0 + gain + command[Options.gain] }
  if let peak { values["truePeak"] = .number(peak) }
  events.write("loudness", values)
  if let peak, peak > -1, !command[Options.limiter] {
    printNote(
      "the true peak of the binaural sound is \(decimal(peak, 1)) dBTP; "
        + "use '--limiter on' (only with --to binaural) to limit it to -1 dBTP")
  }
}

/// Renders the complete sound into a WAV file. After each written block, calls `look` with its
/// number of frames.
func renderToFile(
  _ sound: any RenderedSound, path: String, look: (_ frames: Int) -> Void = { _ in }
) throws(CommandFailure) {
  let writer: WAVWriter
  do throws(MediaError) {
    writer = try WAVWriter(path: path, layout: sound.layout, sampleRate: sound.sampleRate)
  } catch { throw CommandFailure(error.description) }
  var progress = Progress(total: sound.frames)
  do {
    while true {
      if Signals.received != nil { throw CommandFailure.interrupted }
      let count = try playing { () throws(PlaybackError) in try sound.next() }
      guard count > 0 else { break }
      try writer.write(planar: sound.output, frames: count)
      progress.advance(by: count)
      look(count)
    }
    try writer.close()
  } catch {
    writer.abort()
    progress.end()
    if let failure = error as? CommandFailure { throw failure }
    throw CommandFailure((error as? MediaError)?.description ?? "\(error)")
  }
  progress.end()
}

extension OutputLayout {
  /// Returns nil for binaural sound.
  fileprivate init?(_ target: RenderTarget) {
    switch target {
    case .binaural: return nil
    case .stereo: self = .stereo
    case .surround51: self = .surround51
    case .surround71: self = .surround71
    case .surround714: self = .surround714
    case .foa, .ambienceAndSpeech: self = .firstOrder
    }
  }
}
