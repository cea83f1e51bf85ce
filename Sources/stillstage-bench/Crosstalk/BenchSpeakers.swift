// SPDX-License-Identifier: Apache-2.0

import Binaural
import Charts
import CommandOptions
import CommandSupport
import Laboratory
import Media
import Playback
import Rendering
import SoundSources

/// One row of `bench speakers`.
struct SpeakersRow: Encodable {
  let set: String
  let head: String
  let cancelling: Bool
  let angleDegrees: Double
  /// The level of an ear's own signal at that ear minus its level at the other ear, in dB, averaged
  /// over the third octaves from 315 Hz to 8 kHz.
  let separationDecibels: Double
  let separationInThirdOctaves: [Double]
  let frequencies: [Double]
  /// Deviation of an ear's own signal from a flat spectrum, in dB rms.
  let colourationDecibels: Double
  /// The largest boost that cancellation needs in any third octave, in dB; 0 without cancellation.
  let boostDecibels: Double
}

/// Runs `stillstage bench speakers` with the rigid sphere and, if it can be found and read, with
/// libmysofa's default HRTF set.
func benchSpeakersCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let angle = command[Options.speakerAngle]
  let chosen = try playing { () throws(PlaybackError) in
    try HRTFChoice(path: nil, interrupt: Signals.interrupt)
  }
  for note in chosen.notes { printNote(note) }
  var sets = [("sphere", RigidSphereHead().hrtfSet(sampleRate: 48000))]
  // If the path is nil, `chosen` is the sphere, which `sets` already contains.
  if let path = chosen.set.path { sets.append((path, chosen.set.prepared(sampleRate: 48000))) }
  var rows: [SpeakersRow] = []
  for (name, set) in sets {
    if Signals.received != nil { throw .interrupted }
    let trial = CrosstalkTrial(set: set, angle: angle * .pi / 180)
    for (label, head) in heads {
      for isCancelling in [false, true] {
        rows.append(
          SpeakersRow(
            name, label, angle, isCancelling, trial.result(head, isCancelling: isCancelling)))
      }
    }
  }
  if let path = command[Options.chart] {
    do throws(ChartError) { try chart(rows).write(to: path) } catch {
      throw CommandFailure(error.description)
    }
  }
  if command[Options.json] { try printJSON(rows) } else { try printOutput(text(rows)) }
}

private let heads: [(String, CrosstalkTrial.Head)] = [
  ("in place", .init()),
  ("2 cm to the left", .init(offset: SIMD2(0, 0.02))),
  ("5 cm to the left", .init(offset: SIMD2(0, 0.05))),
  ("5 cm nearer", .init(offset: SIMD2(0.05, 0))),
  ("turned by 5 degrees", .init(turn: 5 * .pi / 180)),
  ("turned by 10 degrees", .init(turn: 10 * .pi / 180)),
]

extension SpeakersRow {
  fileprivate init(
    _ set: String, _ head: String, _ angle: Double, _ isCancelling: Bool,
    _ result: CrosstalkTrial.Result
  ) {
    self.init(
      set: set, head: head, cancelling: isCancelling, angleDegrees: angle,
      separationDecibels: result.meanSeparation, separationInThirdOctaves: result.separation,
      frequencies: result.frequencies, colourationDecibels: result.colouration,
      boostDecibels: result.largestBoost)
  }
}

private func text(_ rows: [SpeakersRow]) -> String {
  let heading = ["set", "head", "crosstalk", "separation", "colouration", "boost"]
  let cells = rows.map { row in
    [
      row.set.split(separator: "/").last.map(String.init) ?? row.set, row.head,
      row.cancelling ? "cancelled" : "not cancelled", "\(decimal(row.separationDecibels, 1)) dB",
      "\(decimal(row.colourationDecibels, 1)) dB rms", "\(decimal(row.boostDecibels, 1)) dB",
    ]
  }
  return "loudspeakers at \(decimal(rows.first?.angleDegrees ?? 0, 1)) degrees to either side\n"
    + table([heading] + cells)
}

/// Returns a chart of the separation over frequency, with one panel per set.
private func chart(_ rows: [SpeakersRow]) -> Chart {
  var names: [String] = []
  for row in rows where !names.contains(row.set) { names.append(row.set) }
  let panels = names.map { name in
    let shown = rows.filter { $0.set == name && ($0.cancelling || $0.head == "in place") }
    return ChartPanel(
      xLabel: "frequency (Hz), \(name.split(separator: "/").last.map(String.init) ?? name)",
      yLabel: "separation between the ears (dB)", xScale: .logarithmic(base: 10),
      series: shown.map { row in
        ChartSeries(
          name: row.cancelling ? row.head : "not cancelled", x: row.frequencies,
          y: row.separationInThirdOctaves, isDashed: !row.cancelling)
      })
  }
  return Chart(
    title: "Crosstalk cancellation", panels: panels,
    size: ChartSize(width: 900, height: 100 + 350 * panels.count))
}
