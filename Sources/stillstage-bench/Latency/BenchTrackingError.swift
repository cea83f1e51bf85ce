// SPDX-License-Identifier: Apache-2.0

import Charts
import CommandOptions
import CommandSupport
import Geometry
import HeadTracking
import Laboratory

/// One row of `bench tracking-error`.
struct TrackingErrorRow: Codable {
  /// The path of a recording, or the name of a generated motion.
  var motion: String
  var pathMilliseconds: Double
  /// `neither`, `rewriting`, `prediction` or `both`.
  var method: String
  var p50Degrees: Double
  var p95Degrees: Double
  var maximumDegrees: Double
  /// The number of grid points that were compared.
  var moments: Int
}

/// Runs `stillstage bench tracking-error` with the given recordings, or with the generated motions
/// if none are given.
func benchTrackingErrorCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let files = command.all(Arguments.optionalMotions)
  let picture = try chartPath(command)
  try refuseOverwriting(files, by: [picture])
  let motions = try files.isEmpty ? GeneratedMotion.all : recorded(files)
  let paths = command[Options.errorPaths].map(Double.init)
  let progress = BenchProgress(total: motions.count * paths.count * Method.allCases.count)
  var rows: [TrackingErrorRow] = []
  for (name, motion) in motions {
    for path in paths {
      for method in Method.allCases {
        if Signals.received != nil {
          progress.end()
          throw .interrupted
        }
        progress.show(rows.count)
        var model = TrackingModel()
        model.queue = command[Options.errorQueue] * 1e-3
        model.path = path * 1e-3
        model.trackerRate = command[Options.benchTrackerRate]
        model.rewrites = method == .rewriting || method == .both
        model.predicts = method == .prediction || method == .both
        rows.append(try row(name, motion, model, method))
      }
    }
  }
  progress.end()
  if let picture { try chart(rows).draw(to: picture) }
  if command[Options.json] { try printJSON(rows) } else { try printOutput(text(rows, command)) }
}

private enum Method: String, CaseIterable {
  case neither, rewriting, prediction, both
}

private func recorded(
  _ files: [String]
) throws(CommandFailure) -> [(name: String, motion: RecordedMotion)] {
  var motions: [(name: String, motion: RecordedMotion)] = []
  for path in files {
    do throws(HeadTrackingError) {
      motions.append((path, try RecordedMotion(path: path, monitor: .showing("read"))))
    } catch { throw CommandFailure(reading: error) }
  }
  return motions
}

private func row(
  _ name: String, _ motion: RecordedMotion, _ model: TrackingModel, _ method: Method
) throws(CommandFailure) -> TrackingErrorRow {
  let errors = model.errors(over: motion).map { $0 * degreesPerRadian }
  guard let spread = Distribution(errors) else {
    let start = decimal(model.queue + model.path + 0.5, 2)
    throw CommandFailure(
      "cannot use \(name): it has no pose to compare after the first \(start) s; "
        + "choose another recording")
  }
  return TrackingErrorRow(
    motion: name, pathMilliseconds: model.path * 1e3, method: method.rawValue,
    p50Degrees: spread.p50, p95Degrees: spread.p95, maximumDegrees: spread.maximum,
    moments: spread.count)
}

/// Returns a table of the errors, with a line for each motion and each duration of the path.
private func text(_ rows: [TrackingErrorRow], _ command: ParsedCommand) -> String {
  var lines = [
    ["motion", "path"] + Method.allCases.map(\.rawValue)
      + ["both/neither", "both/rewriting"]
  ]
  for first in rows where first.method == Method.neither.rawValue {
    let own = Method.allCases.compactMap { method in
      rows.first {
        $0.motion == first.motion && $0.pathMilliseconds == first.pathMilliseconds
          && $0.method == method.rawValue
      }
    }
    let name = first.motion.split(separator: "/").last.map(String.init) ?? first.motion
    let both = own[3].p95Degrees
    lines.append(
      [name, "\(decimal(first.pathMilliseconds, 0)) ms"]
        + own.map { "\(decimal($0.p50Degrees, 2)) / \(decimal($0.p95Degrees, 2))" }
        + [own[0], own[1]].map { decimal(both / max(1e-9, $0.p95Degrees), 2) })
  }
  return """
    angle between the pose of the head and the rendered pose, in degrees, p50 / p95; \
    \(decimal(command[Options.errorQueue], 0)) ms in the queue, tracker at \
    \(decimal(command[Options.benchTrackerRate], 0)) Hz; the ratios are of p95

    """ + table(lines)
}

private func chart(_ rows: [TrackingErrorRow]) -> Chart {
  var motions: [String] = []
  for row in rows where !motions.contains(row.motion) { motions.append(row.motion) }
  let panels = motions.map { motion in
    let name = motion.split(separator: "/").last.map(String.init) ?? motion
    return ChartPanel(
      xLabel: "path (ms), \(name)", yLabel: "error (degrees, p95)",
      series: Method.allCases.map { method in
        let own = rows.filter { $0.motion == motion && $0.method == method.rawValue }
        return ChartSeries(
          name: method.rawValue, x: own.map(\.pathMilliseconds), y: own.map(\.p95Degrees))
      })
  }
  return Chart(
    title: "Tracking error", panels: panels,
    size: ChartSize(width: 900, height: 100 + 250 * panels.count))
}
