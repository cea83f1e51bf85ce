// SPDX-License-Identifier: Apache-2.0

import Charts
import CommandOptions
import CommandSupport
import Laboratory

/// One row of `bench mix`.
private struct MixRow: Encodable {
  let scene: String
  let scores: MixScores
  /// The names of the missed limits.
  let missed: [String]

  init(_ scene: MixScene) {
    self.scene = scene.name
    scores = MixScores(scene, clock: cpuSeconds)
    var missed: [String] = []
    if scores.sumError > -120 { missed.append("sum") }
    if scores.speechRatio < scores.inputRatio + 3 { missed.append("speech") }
    if scores.cpuMillisecondsPerSecond > 50 { missed.append("CPU time") }
    self.missed = missed
  }
}

/// The output of `bench mix --json`.
private struct MixReport: Encodable {
  let machine: BenchMachine
  let rows: [MixRow]
}

func benchMixCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let scenes = during("preparing the scenes") { MixScene.all(seconds: 12) }
  let progress = BenchProgress(total: scenes.count)
  defer { progress.end() }
  var rows: [MixRow] = []
  for scene in scenes {
    progress.show(rows.count)
    if Signals.received != nil { throw .interrupted }
    rows.append(MixRow(scene))
  }
  progress.end()
  if let path = command[Options.chart] { try draw(rows, to: path) }
  if command[Options.json] {
    try printJSON(MixReport(machine: .current, rows: rows))
  } else {
    try printOutput(table(rows))
  }
  let missed = rows.flatMap { row in row.missed.map { "\(row.scene): \($0)" } }
  if !missed.isEmpty { throw CommandFailure("limits not met: \(missed.joined(separator: ", "))") }
}

private func table(_ rows: [MixRow]) -> String {
  let heading = ["scene", "sum", "W", "speech", "speech removed", "CPU", "limits"]
  return table(
    [heading]
      + rows.map { row in
        let s = row.scores
        return [
          row.scene, "\(decimal(s.sumError, 1)) dB", "\(decimal(s.inputRatio, 1)) dB",
          "\(decimal(s.speechRatio, 1)) dB", "\(decimal(s.removedSpeech, 1)) dB",
          "\(decimal(s.cpuMillisecondsPerSecond, 1)) ms/s",
          row.missed.isEmpty ? "met" : "MISSED",
        ]
      })
}

private func draw(_ rows: [MixRow], to path: String) throws(CommandFailure) {
  let x = rows.indices.map { Double($0 + 1) }
  // The chart can show about twelve characters of each name.
  let names = rows.map { row in
    row.scene.replacing(" talkers,", with: "").replacing(" talker,", with: "")
  }
  let label = "scene (a talker in diffuse noise, a moving talker, two talkers)"
  let chart = Chart(
    title: "Audio Mix",
    panels: [
      ChartPanel(
        xLabel: label, yLabel: "SI-SDR of the speech (dB)", xNames: names,
        series: [
          ChartSeries(name: "separated", x: x, y: rows.map(\.scores.speechRatio)),
          ChartSeries(name: "W channel", x: x, y: rows.map(\.scores.inputRatio)),
          ChartSeries(
            name: "goal: 3 dB above W", x: x, y: rows.map { $0.scores.inputRatio + 3 },
            isDashed: true),
        ]),
      ChartPanel(
        xLabel: label, yLabel: "speech removed from the ambience (dB)", xNames: names,
        series: [ChartSeries(name: "separated", x: x, y: rows.map(\.scores.removedSpeech))]),
    ], size: ChartSize(width: 900, height: 700))
  do throws(ChartError) { try chart.write(to: path) } catch {
    throw CommandFailure(error.description)
  }
}
