// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import CommandOptions
import CommandSupport
import Media
import Playback
import Rendering
import SoundSources

func hrtfExportCommand(_ command: ParsedCommand) throws(CommandFailure) {
  try refuseOverwriting([command[Arguments.sofaFile]], by: [command[Options.exportOutput]])
  guard command[Options.decoder] != .direct else {
    throw .usage(
      "the decoder 'direct' has no filters for ambisonic channels; choose another decoder")
  }
  guard command[Options.decoder] != .parametric else {
    throw .usage("the decoder 'parametric' has no filters of its own; choose another decoder")
  }
  var settings = RenderSettings()
  settings.method = DecoderDesign.Method(command[Options.decoder])
  let hrtf = try playing { () throws(PlaybackError) in
    try during("reading the HRTF set") { () throws(PlaybackError) in
      try HRTFChoice(path: command[Arguments.sofaFile], interrupt: Signals.interrupt)
    }
  }
  try checkWritable(command[Options.exportOutput])
  let rate = command[Options.exportRate] ?? Int(hrtf.set.sampleRate.rounded())
  let filters = try playing { () throws(PlaybackError) in
    try during("designing the decoder") { () throws(PlaybackError) in
      try hrtf.filters(
        order: command[Options.exportOrder], settings: settings, sampleRate: Double(rate))
    }
  }
  if Signals.received != nil { throw .interrupted }
  try write(filters, sampleRate: rate, path: command[Options.exportOutput])
  for note in hrtf.notes { printNote(note) }
}

/// Writes a WAV file with one channel per filter: the left ear's filters in ACN order, then the
/// right ear's.
private func write(
  _ filters: BinauralFilters, sampleRate: Int, path: String
) throws(CommandFailure) {
  let channels = filters.left + filters.right
  let taps = filters.taps
  let samples = UnsafeMutablePointer<Float>.allocate(capacity: channels.count * taps)
  defer { samples.deallocate() }
  for (index, channel) in channels.enumerated() {
    (samples + index * taps).initialize(from: channel, count: taps)
  }
  let planes = channels.indices.map { UnsafePointer(samples + $0 * taps) }
  do throws(MediaError) {
    let writer = try WAVWriter(
      path: path, layout: .unknown(channels: channels.count), sampleRate: sampleRate)
    try writer.write(planar: planes, frames: taps)
    try writer.close()
  } catch { throw CommandFailure(error.description) }
}
