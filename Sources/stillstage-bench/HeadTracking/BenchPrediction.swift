// SPDX-License-Identifier: Apache-2.0

import Charts
import CommandOptions
import CommandSupport
import Geometry
import HeadTracking
import Laboratory

/// One row of `bench prediction`.
struct PredictionRow: Encodable {
  /// `last`, `gyro`, `least-squares` or `ours`.
  let method: String
  /// The path of the recording, or `mean` for the mean over all recordings.
  let recording: String
  let lookAheadMilliseconds: Double
  let samples: Int
  let rmsDegrees: Double
  let p95Degrees: Double
}

/// Runs `stillstage bench prediction`, which compares the methods of `PredictionTrial` on each
/// recording.
func benchPredictionCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let files = command.all(Arguments.motions)
  let picture = try chartPath(command)
  try refuseOverwriting(files, by: [picture])
  var rows: [PredictionRow] = []
  for path in files {
    if Signals.received != nil { throw .interrupted }
    rows += try predictionRows(path)
  }
  rows += meanRows(rows, of: files.count)
  if let path = picture {
    try predictionChart(rows).draw(to: path)
  }
  if command[Options.json] {
    try printJSON(rows)
  } else {
    try printOutput(predictionTable(rows))
  }
}

private func predictionRows(_ path: String) throws(CommandFailure) -> [PredictionRow] {
  let motion: RecordedMotion
  do throws(HeadTrackingError) {
    motion = try RecordedMotion(path: path, monitor: .showing("read"))
  } catch {
    throw CommandFailure(reading: error)
  }
  let results = during("measuring") { PredictionTrial.run(motion) }
  guard results.allSatisfy({ !$0.errors.isEmpty }) else {
    throw CommandFailure(
      "cannot use \(path): no scored row has a known pose 0.2 s later; "
        + "choose another recording")
  }
  return results.map {
    PredictionRow(
      method: $0.method.rawValue, recording: path, lookAheadMilliseconds: $0.lookAhead * 1000,
      samples: $0.errors.count, rmsDegrees: $0.rootMeanSquare * degreesPerRadian,
      p95Degrees: $0.percentile95 * degreesPerRadian)
  }
}

/// Returns the mean errors at each look-ahead, for each method that ran on all recordings.
private func meanRows(_ rows: [PredictionRow], of count: Int) -> [PredictionRow] {
  PredictionTrial.lookAheads.flatMap { lookAhead in
    PredictionTrial.Method.allCases.compactMap { method -> PredictionRow? in
      let own = rows.filter {
        $0.method == method.rawValue && $0.lookAheadMilliseconds == lookAhead * 1000
      }
      guard own.count == count else { return nil }
      return PredictionRow(
        method: method.rawValue, recording: "mean", lookAheadMilliseconds: lookAhead * 1000,
        samples: own.reduce(0) { $0 + $1.samples },
        rmsDegrees: own.reduce(0) { $0 + $1.rmsDegrees } / Double(count),
        p95Degrees: own.reduce(0) { $0 + $1.p95Degrees } / Double(count))
    }
  }
}

/// Returns a table of the errors, with a line for each recording and look-ahead.
private func predictionTable(_ rows: [PredictionRow]) -> String {
  let methods = PredictionTrial.Method.allCases.map(\.rawValue)
  var lines = [["recording", "look-ahead"] + methods]
  var heads: [(String, Double)] = []
  for row in rows where !heads.contains(where: { $0 == (row.recording, row.lookAheadMilliseconds) })
  {
    heads.append((row.recording, row.lookAheadMilliseconds))
  }
  for (recording, lookAhead) in heads {
    let cells = methods.map { method in
      let row = rows.first {
        $0.recording == recording && $0.lookAheadMilliseconds == lookAhead && $0.method == method
      }
      return row.map { "\(decimal($0.rmsDegrees, 2)) / \(decimal($0.p95Degrees, 2))" } ?? "-"
    }
    let name = recording.split(separator: "/").last.map(String.init) ?? recording
    lines.append([name, "\(decimal(lookAhead, 0)) ms"] + cells)
  }
  return "angular error in degrees, rms / 95th percentile\n" + table(lines)
}

/// Returns a chart of the rms error against the look-ahead, with a panel for each recording. The
/// panel for the mean is first.
private func predictionChart(_ rows: [PredictionRow]) -> Chart {
  var recordings: [String] = []
  for row in rows where !recordings.contains(row.recording) { recordings.append(row.recording) }
  let panels = recordings.reversed().map { recording in
    let name = recording.split(separator: "/").last.map(String.init) ?? recording
    return ChartPanel(
      xLabel: "look-ahead (ms), \(name)", yLabel: "error (degrees rms)",
      series: PredictionTrial.Method.allCases.map { method in
        let own = rows.filter { $0.recording == recording && $0.method == method.rawValue }
        return ChartSeries(
          name: method.rawValue, x: own.map(\.lookAheadMilliseconds), y: own.map(\.rmsDegrees))
      }.filter { !$0.x.isEmpty })
  }
  return Chart(
    title: "Prediction of the head pose", panels: panels,
    size: ChartSize(width: 900, height: 100 + 250 * panels.count))
}
