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
  let head =
    try (wantsPose ? nil : recordedHead(command))
    ?? HeadTrajectory(command[Options.pose]?.quaternion ?? .identity)
  let source = try playing { () throws(PlaybackError) in
    try FileSource(
      path: command[Arguments.input], settings: settings, sampleRate: command[Options.rate],
      interrupt: Signals.interrupt)
  }
  try checkWritable(output)
  let hrtf = try playing { () throws(PlaybackError) in
    try HRTFChoice(path: settings.hrtfPath, interrupt: Signals.interrupt)
  }
  let offline = try playing { () throws(PlaybackError) in
    try OfflineRenderer(
      source: source, head: head, hrtf: hrtf, settings: settings,
      isLimited: command[Options.limiter])
  }
  // Only now: wrong input leaves nothing behind, and its error stands alone.
  let events = try EventLog(path: command[Options.events])
  for note in hrtf.notes { printNote(note) }
  try renderToFile(offline, path: output)
  for change in offline.layoutChanges {
    let place = StatusLine.clock(change.seconds)
    printNote("at \(place) the source's channels change to \(change.layout.name)")
    events.write(
      "layout", ["layout": .text(change.layout.name), "seconds": .number(change.seconds)])
  }
  for warning in source.warnings {
    printNote(warning)
    events.warning(warning)
  }
  if offline.renderer.mutedFrameCount > 0 {
    let text = "\(offline.renderer.mutedFrameCount) frames held no valid sound and were muted"
    printNote(text)
    events.warning(text)
  }
}

/// Renders all of it into a WAV; `look` is called after each block with how much is done.
func renderToFile(
  _ offline: OfflineRenderer, path: String, look: (_ frames: Int) -> Void = { _ in }
) throws(CommandFailure) {
  let writer: WAVWriter
  do throws(MediaError) {
    writer = try WAVWriter(
      path: path, layout: .stereo, sampleRate: Int(offline.renderer.sampleRate))
  } catch { throw CommandFailure(error.description) }
  var progress = Progress(total: offline.frames)
  do {
    while true {
      if Signals.received != nil { throw CommandFailure.interrupted }
      let count = try playing { () throws(PlaybackError) in try offline.next() }
      guard count > 0 else { break }
      try writer.write(planar: offline.output, frames: count)
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
