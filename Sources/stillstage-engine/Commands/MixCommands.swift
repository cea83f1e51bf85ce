// SPDX-License-Identifier: Apache-2.0

import AudioMix
import Capture
import CommandOptions
import CommandSupport
import Geometry
import HeadTracking
import Media
import Playback
import Rendering
import SoundSources

func mixAnalyseCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let output = command[Options.tuningOutput]
  try refuseOverwriting([command[Arguments.input]], by: [output])
  let settings = try RenderSettings(command)
  let (source, input) = try soundfield(command, settings)
  defer { input.finish() }
  let file = TextOutput(path: output)
  try file.check()
  let generator = MixTuningGenerator(sampleRate: Double(source.sampleRate))
  let field = try firstOrder(source, settings)
  try readAll(field) { planes, frames in generator.append(planes, frames: frames) }
  let tuning = generator.tuning
  if tuning.isNeutral {
    printNote(
      "the tuning changes nothing: less than a second of speech was found, or the recording needs "
        + "no change")
  }
  try file.write(tuning.json + "\n")
}

func mixBakeCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let (path, input) = (command[Options.bakeOutput], command[Arguments.input])
  let settings = try RenderSettings(command)
  try refuseOverwriting([input, tuningFile(command)], by: [path])
  let (source, sound) = try soundfield(command, settings)
  defer { sound.finish() }
  if let note = mixNote(source, settings) { printNote(note) }
  let number = try playing { () throws(PlaybackError) in
    do throws(MediaError) {
      return try AudioFileReader(path: input, track: settings.track).track.number
    } catch { throw PlaybackError(error) }
  }
  let mixed = try playing { () throws(PlaybackError) in
    try LayoutRenderer(source: source, target: .firstOrder, head: nil, settings: settings)
  }
  let file: BakedFile
  do throws(BakingError) {
    file = try BakedFile(path: path, input: input, track: number, sampleRate: source.sampleRate)
  } catch { throw CommandFailure(error.description) }
  defer { file.abort() }
  // In all styles but `standard`, the mix already contains the effect of the tuning. With these
  // styles or without a tuning, the file gets a new tuning that is computed from the mix.
  let generator = MixTuningGenerator(sampleRate: Double(source.sampleRate))
  try readAll(mixed) { planes, frames throws(CommandFailure) in
    generator.append(planes, frames: frames)
    do throws(BakingError) { try file.append(planes, frames: frames) } catch {
      throw CommandFailure(error.description)
    }
  }
  do throws(BakingError) {
    let tuning = settings.mix?.style == .standard ? settings.mix?.tuning : nil
    for note in try file.finish(tuning: (tuning ?? generator.tuning).json) { printNote(note) }
  } catch { throw CommandFailure(error.description) }
  for warning in source.warnings { printNote(warning) }
}

func mixProcessCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let settings = try RenderSettings(command)
  let (output, target) = (command[Options.renderOutput], command[Options.processTarget])
  try refuseOverwriting(
    [command[Arguments.input], settings.hrtfPath, tuningFile(command)], by: [output])
  if target == .ambienceAndSpeech { try refuseStem(settings) }
  let (source, input) = try soundfield(command, settings)
  defer { input.finish() }
  if let note = mixNote(source, settings) { printNote(note) }
  try checkWritable(output)
  let sound = try playing { () throws(PlaybackError) -> any RenderedSound in
    switch target {
    case .ambienceAndSpeech:
      return try AmbienceAndSpeechRenderer(source: source, head: nil, settings: settings)
    case .binaural:
      let hrtf = try HRTFChoice(path: settings.hrtfPath, interrupt: Signals.interrupt)
      for note in hrtf.notes { printNote(note) }
      return try OfflineRenderer(
        source: source, head: HeadTrajectory(.identity), hrtf: hrtf, settings: settings,
        isLimited: false)
    case .surround51, .surround71, .surround714, .stereo:
      let layout = OutputLayout(rawValue: target.rawValue) ?? .stereo
      return try LayoutRenderer(source: source, target: layout, head: nil, settings: settings)
    }
  }
  try renderToFile(sound, path: output)
  for warning in source.warnings { printNote(warning) }
  if sound.mutedFrameCount > 0 { printNote(mutedText(sound.mutedFrameCount)) }
}

/// Opens the input and checks that it is a soundfield.
private func soundfield(
  _ command: ParsedCommand, _ settings: RenderSettings
) throws(CommandFailure) -> (source: any SoundSource, input: SoundInput) {
  let input = try SoundInput(command, settings, follows: false)
  let rate = command.name == .mixProcess ? command[Options.rate] : nil
  let source = try playing { () throws(PlaybackError) in
    let source = try input.open(rate)
    try requireSoundfield(source)
    return source
  }
  return (source, input)
}

private func firstOrder(
  _ source: any SoundSource, _ settings: RenderSettings
) throws(CommandFailure) -> any RenderedSound {
  try playing { () throws(PlaybackError) in
    try LayoutRenderer(source: source, target: .firstOrder, head: nil, settings: settings)
  }
}

private func tuningFile(_ command: ParsedCommand) -> String? {
  let tuning = command[Options.mixTuning]
  return ["auto", "off"].contains(tuning) ? nil : tuning
}

/// Renders the complete sound and calls `body` with each block.
private func readAll(
  _ sound: any RenderedSound,
  _ body: (UnsafePointer<UnsafeMutablePointer<Float>>, Int) throws(CommandFailure) -> Void
) throws(CommandFailure) {
  var progress = Progress(total: sound.frames)
  defer { progress.end() }
  while true {
    if Signals.received != nil { throw .interrupted }
    let count = try playing { () throws(PlaybackError) in try sound.next() }
    guard count > 0 else { return }
    try body(sound.output, count)
    progress.advance(by: count)
  }
}
