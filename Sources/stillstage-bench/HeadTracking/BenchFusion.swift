// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Charts
import CommandOptions
import CommandSupport
import Geometry
import Glibc
import HeadTracking
import Kernels
import KernelsAVX2
import KernelsAVX512
import Laboratory

/// One row of `bench fusion`.
struct FusionRow: Encodable {
  let filter: String
  /// The path of the recording, or `mean` for the mean over all recordings.
  let recording: String
  let samples: Int
  /// Root mean square of the inclination error without the magnetometer.
  let inclinationDegrees: Double
  /// Root mean square of the heading error with the magnetometer, after subtracting the mean error;
  /// nil if a recording has no magnetic field.
  let headingDegrees: Double?
  /// Root mean square of the heading error with the magnetometer, including the mean error; nil if
  /// a recording has no magnetic field.
  let absoluteHeadingDegrees: Double?
  /// Magnitude of the heading's drift without the magnetometer.
  let driftDegreesPerMinute: Double
  let microsecondsPerSample: Double
}

/// Runs `stillstage bench fusion`. Compares the program's filter with the VQF library if `PeerVQF`
/// has results.
func benchFusionCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let files = command.all(Arguments.recordings)
  let picture = try chartPath(command)
  try refuseOverwriting(files, by: [picture])
  var rows: [FusionRow] = []
  var panels: [ChartPanel] = []
  for path in files {
    if Signals.received != nil { throw .interrupted }
    let recording = try readRecording(path)
    let trial = try during("measuring") { () throws(CommandFailure) in
      try FusionTrial(path, recording)
    }
    rows += trial.rows
    panels.append(trial.panel)
  }
  rows += ["stillstage", "vqf"].compactMap { filter in
    FusionRow(meanOf: rows.filter { $0.filter == filter }, of: files.count)
  }
  if let path = picture {
    let size = ChartSize(width: 900, height: 100 + 250 * panels.count)
    let chart = Chart(title: "Orientation error", panels: panels, size: size)
    try chart.draw(to: path)
  }
  if command[Options.json] {
    try printJSON(rows)
  } else {
    try printOutput(FusionRow.text(rows))
  }
}

private struct FusionTrial {
  let rows: [FusionRow]
  let panel: ChartPanel

  init(_ path: String, _ recording: InertialRecording) throws(CommandFailure) {
    guard !recording.truth.isEmpty else {
      throw CommandFailure(
        "cannot use \(path): it has no columns qw,qx,qy,qz with the true orientation; "
          + "choose a recording with them")
    }
    let cost = fusionMicroseconds(recording)
    let level = try fused(recording, usesMagnetometer: false)
    let compass = recording.hasMagneticField ? try fused(recording, usesMagnetometer: true) : nil
    let course = FusionAccuracy.Course(level, against: recording)
    var rows = [
      try Self.row("stillstage", path, recording, level: course, compass: compass, cost)
    ]
    if let peer = PeerVQF(recording: path, count: recording.samples.count) {
      let theirs = FusionAccuracy.Course(peer.level, against: recording)
      rows.append(
        try Self.row(
          "vqf", path, recording, level: theirs, compass: peer.compass,
          peer.microsecondsPerSample))
    }
    self.rows = rows
    panel = Self.panel(path, course)
  }

  private static func row(
    _ filter: String, _ path: String, _ recording: InertialRecording,
    level: FusionAccuracy.Course, compass: [Quaternion]?, _ cost: Double
  ) throws(CommandFailure) -> FusionRow {
    let heading = compass.flatMap { FusionAccuracy(.init($0, against: recording)) }
    guard let accuracy = FusionAccuracy(level) else {
      throw CommandFailure(
        "cannot use \(path): fewer than two of the scored rows have a true orientation; "
          + "choose another recording")
    }
    return FusionRow(
      filter: filter, recording: path, samples: recording.samples.count,
      inclinationDegrees: accuracy.inclinationDegrees, headingDegrees: heading?.headingDegrees,
      absoluteHeadingDegrees: heading?.absoluteHeadingDegrees,
      driftDegreesPerMinute: accuracy.driftDegreesPerMinute, microsecondsPerSample: cost)
  }

  /// Returns a panel with the error over time, reduced to fewer than 4000 points per line.
  private static func panel(_ path: String, _ course: FusionAccuracy.Course) -> ChartPanel {
    let step = max(1, course.times.count / 2000)
    let kept = stride(from: 0, to: course.times.count, by: step)
    let times = kept.map { course.times[$0] }
    let start = course.heading.first ?? 0
    let name = path.split(separator: "/").last.map(String.init) ?? path
    return ChartPanel(
      xLabel: "time (s), \(name)", yLabel: "error (degrees)",
      series: [
        ChartSeries(name: "inclination", x: times, y: kept.map { course.inclination[$0] }),
        ChartSeries(
          name: "heading without magnetometer", x: times,
          y: kept.map { course.heading[$0] - start }),
      ])
  }
}

extension FusionRow {
  /// Averages one filter's rows over `count` recordings, but adds up their numbers of samples; nil
  /// if a recording has no row.
  fileprivate init?(meanOf rows: [FusionRow], of count: Int) {
    guard rows.count == count, let first = rows.first else { return nil }
    func mean(_ value: (FusionRow) -> Double) -> Double {
      rows.reduce(0) { $0 + value($1) } / Double(count)
    }
    func meanOfAll(_ value: (FusionRow) -> Double?) -> Double? {
      let values = rows.compactMap(value)
      return values.count == count ? values.reduce(0, +) / Double(count) : nil
    }
    self.init(
      filter: first.filter, recording: "mean", samples: rows.reduce(0) { $0 + $1.samples },
      inclinationDegrees: mean(\.inclinationDegrees), headingDegrees: meanOfAll(\.headingDegrees),
      absoluteHeadingDegrees: meanOfAll(\.absoluteHeadingDegrees),
      driftDegreesPerMinute: mean(\.driftDegreesPerMinute),
      microsecondsPerSample: mean(\.microsecondsPerSample))
  }

  fileprivate static func text(_ rows: [FusionRow]) -> String {
    let head = [
      "recording", "filter", "inclination", "heading (9-axis)", "drift (6-axis)", "time per sample",
    ]
    let cells = rows.map { row in
      [
        row.recording.split(separator: "/").last.map(String.init) ?? row.recording, row.filter,
        "\(decimal(row.inclinationDegrees, 3)) deg",
        row.headingDegrees.map { "\(decimal($0, 3)) deg" } ?? "-",
        "\(decimal(row.driftDegreesPerMinute, 3)) deg/min",
        "\(decimal(row.microsecondsPerSample, 3)) us",
      ]
    }
    return table([head] + cells)
  }
}
