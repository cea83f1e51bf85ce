// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Charts
import CommandOptions
import CommandSupport
import Glibc
import Laboratory
import Media
import Surround

/// One row of `bench upmix`.
struct UpmixRow: Encodable {
  let mix: String
  let method: String
  let metrics: UpmixMetrics
  let latencyMilliseconds: Double
  /// CPU time in milliseconds per second of sound; nil if not measured.
  let cpuMillisecondsPerSecond: Double?
  /// The names of the missed limits; empty for the peer.
  var missed: [String] = []
}

/// The output of `bench upmix --json`.
private struct UpmixReport: Encodable {
  let machine: BenchMachine
  let sampleRate: Int
  let seconds: Double
  /// The measurements that were skipped because a program is missing.
  let notes: [String]
  let rows: [UpmixRow]
}

func benchUpmixCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let seconds = 12.0
  let folder = ScratchFolder()
  defer { folder.remove() }
  let peer = PeerSurround(folder: folder.path)
  let mixes = during("preparing the mixes") { UpmixMix.all(seconds: seconds) }
  let progress = BenchProgress(total: mixes.count)
  defer { progress.end() }
  var rows: [UpmixRow] = []
  for (index, mix) in mixes.enumerated() {
    progress.show(index)
    if Signals.received != nil { throw .interrupted }
    let projection = UpmixProjection(
      stems: [mix.centre[0], mix.panned[0], mix.panned[1], mix.ambience[0], mix.ambience[1]])
    var theirs: UpmixRow?
    if let peer { theirs = try peerRow(peer, mix, projection, folder.path) }
    var own = ownRow(mix, projection)
    if let limit = theirs?.cpuMillisecondsPerSecond, own.cpuMillisecondsPerSecond ?? 0 > limit {
      own.missed.append("CPU time")
    }
    rows += [own] + (theirs.map { [$0] } ?? [])
  }
  progress.end()
  let notes =
    peer == nil
    ? ["skipped FFmpeg's surround filter: ffmpeg is missing; 'apt install ffmpeg' installs it"] : []
  for note in notes { printNote(note) }
  if let path = command[Options.chart] { try draw(rows, to: path) }
  if command[Options.json] {
    try printJSON(
      UpmixReport(
        machine: .current, sampleRate: Int(UpmixInstruments.rate), seconds: seconds, notes: notes,
        rows: rows))
  } else {
    try printOutput(table(rows))
  }
  let missed = rows.flatMap { row in row.missed.map { "\(row.mix): \($0)" } }
  if !missed.isEmpty { throw CommandFailure("limits not met: \(missed.joined(separator: ", "))") }
}

private func ownRow(_ mix: UpmixMix, _ projection: UpmixProjection) -> UpmixRow {
  let input = mix.sum
  var (output, best) = ([[Double]](), Double.infinity)
  for _ in 0..<3 {
    let start = cpuSeconds()
    let made = upmixed(input)
    best = min(best, cpuSeconds() - start)
    output = made
  }
  let upmixer = Upmixer(sampleRate: UpmixInstruments.rate)
  let metrics = UpmixMetrics(mix, projection, output: output)
  let missed = metrics.limits.filter { $0.value < $0.atLeast || $0.value > $0.atMost }
  return UpmixRow(
    mix: mix.name, method: "stillstage", metrics: metrics,
    latencyMilliseconds: Double(upmixer.windowFrames) / UpmixInstruments.rate * 1000,
    cpuMillisecondsPerSecond: best / Double(mix.frames) * UpmixInstruments.rate * 1000,
    missed: missed.map(\.name))
}

private func peerRow(
  _ peer: PeerSurround, _ mix: UpmixMix, _ projection: UpmixProjection, _ folder: String
) throws(CommandFailure) -> UpmixRow? {
  let path = "\(folder)/mix.wav"
  do throws(MediaError) {
    let writer = try WAVWriter(
      path: path, layout: .stereo, sampleRate: Int(UpmixInstruments.rate))
    var planes = mix.sum
    let count = mix.frames
    try write(&planes, count, writer)
    try writer.close()
  } catch { throw CommandFailure(error.description) }
  guard let late = peer.upmix(path) else { return nil }
  let delay = delay(of: late, in: mix)
  let output = late.map { channel in
    let rest = Array(channel.dropFirst(delay).prefix(mix.frames))
    return rest + [Double](repeating: 0, count: mix.frames - rest.count)
  }
  return UpmixRow(
    mix: mix.name, method: "ffmpeg surround",
    metrics: UpmixMetrics(mix, projection, output: output),
    latencyMilliseconds: Double(delay) / UpmixInstruments.rate * 1000,
    cpuMillisecondsPerSecond: peer.seconds(path).map {
      $0 / Double(mix.frames) * UpmixInstruments.rate * 1000
    })
}

private func write(
  _ channels: inout [[Float]], _ count: Int, _ writer: WAVWriter
) throws(MediaError) {
  let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: channels.count)
  for (c, channel) in channels.enumerated() {
    let plane = UnsafeMutablePointer<Float>.allocate(capacity: count)
    plane.initialize(from: channel, count: count)
    (planes + c).initialize(to: plane)
  }
  defer {
    for c in channels.indices { planes[c].deallocate() }
    planes.deallocate()
  }
  try writer.write(planar: UnsafePointer(planes), frames: count)
}

private func table(_ rows: [UpmixRow]) -> String {
  let heading = [
    "mix", "method", "fold-down", "energy C/P/A", "FC", "centre in FC", "surrounds",
    "ambience in surrounds", "correlation", "latency", "CPU", "limits",
  ]
  return table(
    [heading]
      + rows.map { row in
        let m = row.metrics
        let energies = [m.centreEnergy, m.pannedEnergy, m.ambienceEnergy]
        return [
          row.mix, row.method, "\(decimal(m.foldDownError, 1)) dB",
          energies.map { decimal($0, 2) }.joined(separator: "/") + " dB",
          "\(decimal(m.centreToOthers, 1)) dB", decimal(m.centreShare, 3),
          "\(decimal(m.ambienceToOthers, 1)) dB", decimal(m.ambienceShare, 3),
          decimal(m.surroundCorrelation, 3), "\(decimal(row.latencyMilliseconds, 1)) ms",
          row.cpuMillisecondsPerSecond.map { "\(decimal($0, 2)) ms/s" } ?? "-",
          row.method == "stillstage" ? (row.missed.isEmpty ? "met" : "MISSED") : "-",
        ]
      })
}

private func draw(_ rows: [UpmixRow], to path: String) throws(CommandFailure) {
  let methods = ["stillstage", "ffmpeg surround"]
  func panel(
    _ label: String, goal: String, _ value: (UpmixMetrics) -> Double
  ) -> ChartPanel {
    let series = methods.map { method in
      let own = rows.filter { $0.method == method }
      return ChartSeries(
        name: method, x: own.indices.map { Double($0 + 1) }, y: own.map { value($0.metrics) })
    }
    let names = rows.filter { $0.method == methods[0] }.map(\.mix)
    return ChartPanel(
      xLabel: "mix", yLabel: label, xNames: names,
      series: series.filter { !$0.x.isEmpty },
      goals: rows.first?.metrics.limits.filter { $0.name == goal }.map {
        ChartGoal(name: "goal: at least \(decimal($0.atLeast, 0))", y: $0.atLeast)
      } ?? [])
  }
  let chart = Chart(
    title: "Stereo to 5.1",
    panels: [
      panel(
        "centre over others in FC (dB)", goal: "centre over others in FC (dB)",
        \.centreToOthers),
      panel(
        "ambience over others in SL, SR (dB)",
        goal: "ambience over others in SL and SR (dB)", \.ambienceToOthers),
    ], size: ChartSize(width: 900, height: 700))
  do throws(ChartError) { try chart.write(to: path) } catch {
    throw CommandFailure(error.description)
  }
}

private struct ScratchFolder {
  let path: String

  init() {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/stillstage-upmix-XXXXXX".utf8CString)
    path = mkdtemp(&template).map { String(cString: $0) } ?? base
  }

  func remove() {
    for name in ["mix.wav", "peer.wav"] { unlink("\(path)/\(name)") }
    rmdir(path)
  }
}
