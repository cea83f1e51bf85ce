// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CommandOptions
import Geometry
import Glibc
import HeadTracking
import Media
import Playback

/// `stillstage render INPUT -o OUT.wav`
func renderCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let settings = try RenderSettings(command)
  let output = command[Options.renderOutput]
  try refuseOverwriting(
    [command[Arguments.input], settings.hrtfPath, command[Options.motion]],
    by: [output, command[Options.events]])
  // A pose on the command line wins over a recording among the user's defaults.
  let wantsPose = command.isGiven(Options.pose) && !command.isGiven(Options.motion)
  let target = OutputLayout(rawValue: command[Options.renderTarget].rawValue)
  if target != nil, command.isGiven(Options.limiter), command[Options.limiter] {
    throw .usage("--limiter on goes with --to binaural: other layouts are written as they are")
  }
  let head =
    try (wantsPose ? nil : recordedHead(command))
    ?? command[Options.pose].map { HeadTrajectory($0.quaternion) }
  let source = try playing { () throws(PlaybackError) in
    try FileSource(
      path: command[Arguments.input], settings: settings, sampleRate: command[Options.rate],
      interrupt: Signals.interrupt)
  }
  try checkWritable(output)
  var notes: [String] = []
  let sound = try playing { () throws(PlaybackError) -> any RenderedSound in
    if let target {
      return try LayoutRenderer(source: source, target: target, head: head, settings: settings)
    }
    let hrtf = try HRTFChoice(path: settings.hrtfPath, interrupt: Signals.interrupt)
    notes = hrtf.notes
    return try OfflineRenderer(
      source: source, head: head ?? HeadTrajectory(.identity), hrtf: hrtf, settings: settings,
      isLimited: command[Options.limiter])
  }
  // Only now: wrong input leaves nothing behind, and its error stands alone.
  let events = try EventLog(path: command[Options.events])
  for note in notes { printNote(note) }
  try renderToFile(sound, path: output)
  for warning in source.warnings {
    printNote(warning)
    events.warning(warning)
  }
  if sound.mutedFrameCount > 0 {
    let text = "\(sound.mutedFrameCount) frames held no valid sound and were muted"
    printNote(text)
    events.warning(text)
  }
}

/// Renders all of it into a WAV; `look` is called after each block with how much is done.
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
