// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import CommandSupport
import Geometry
import HeadTracking

func fuseCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let input = command[Arguments.recording]
  let output = TextOutput(path: command[Options.fuseOutput])
  try refuseOverwriting([input], by: [output.path])
  let recording = try readRecording(input)
  let usesMagnetometer = command[Options.magnetometer]
  guard !usesMagnetometer || recording.hasMagneticField else {
    throw CommandFailure("\(input) has no columns mx,my,mz; leave out --mag")
  }
  try output.check()
  let turns = try fused(recording, usesMagnetometer: usesMagnetometer)
  var progress = Progress(total: turns.count, doing: "formatted")
  defer { progress.end() }
  var text = "t,w,x,y,z\n"
  text.reserveCapacity(turns.count * 64)
  for (index, (time, turn)) in zip(recording.times, turns).enumerated() {
    if index % 4096 == 0 {
      if Signals.received != nil { throw .interrupted }
      progress.advance(to: index)
    }
    text += "\(decimalTime(time)),\(decimal(turn.w, 9)),\(decimal(turn.x, 9))"
    text += ",\(decimal(turn.y, 9)),\(decimal(turn.z, 9))\n"
  }
  try output.write(text)
}

/// Returns the shortest text that parses to the same time, or nine decimals if that text has an
/// exponent.
private func decimalTime(_ time: Double) -> String {
  let text = "\(time)"
  return text.contains("e") ? decimal(time, 9) : text
}
