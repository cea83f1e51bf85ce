// SPDX-License-Identifier: Apache-2.0

import Charts
import CommandOptions
import CommandSupport
import HLS
import Laboratory

/// One row of `bench adaptation`.
struct AdaptationRow: Encodable {
  /// `stillstage`, or the name of another player or of an algorithm.
  let rule: String
  /// The path of a trace file, the name of a built-in trace, or `mean`. For a poor line, the prefix
  /// `poor/` or, with an outage, `outage/` precedes the line's name or `mean`.
  let trace: String
  let stallPercent: Double
  let flipsPerMinute: Double
  let multichannelPercent: Double
  /// The mean time for which stereo still plays although the line has recovered, in s; nil if the
  /// line never recovered during stereo sound.
  let restoreSeconds: Double?
  /// Time to the first sound, in s; nil if nothing played.
  let startSeconds: Double?

  init(_ rule: ComparedRule, _ trace: String, _ figures: AdaptationFigures) {
    self.rule = rule.rawValue
    self.trace = trace
    stallPercent = figures.stallPercent
    flipsPerMinute = figures.flipsPerMinute
    multichannelPercent = figures.multichannelPercent
    restoreSeconds = figures.restoreSeconds
    startSeconds = figures.startSeconds
  }
}

/// Runs `stillstage bench adaptation`. If no trace files are given and the results do not meet the
/// goals or limits, throws after printing the results.
func benchAdaptationCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let files = command.all(Arguments.traces)
  try refuseOverwriting(files, by: [command[Options.chart]])
  var traces: [BandwidthTrace] = []
  for path in files { traces.append(try readTrace(path)) }
  let trial = during("simulating") {
    AdaptationTrial(traces.isEmpty ? BandwidthTrace.builtIn : traces)
  }
  if let path = command[Options.chart] {
    do throws(ChartError) { try trial.chart.write(to: path) } catch {
      throw CommandFailure(error.description)
    }
  }
  let poor = traces.isEmpty ? during("simulating poor lines") { PoorLineReport() } : nil
  if command[Options.json] {
    try printJSON(trial.rows + (poor?.rows ?? []))
  } else {
    try printOutput(trial.text + (poor?.text ?? ""))
  }
  guard let poor else { return }
  var failures: [String] = []
  if !trial.missedGoals.isEmpty {
    failures.append(
      "goals not met over the built-in connections: "
        + trial.missedGoals.joined(separator: "; "))
  }
  if !poor.missedFloors.isEmpty {
    failures.append(
      "limits not met over the poor lines: \(poor.missedFloors.joined(separator: "; "))")
  }
  guard failures.isEmpty else { throw CommandFailure(failures.joined(separator: "; ")) }
}

private struct AdaptationTrial {
  struct Run {
    let trace: BandwidthTrace
    let rule: ComparedRule
    let result: SimulationResult
    let figures: AdaptationFigures
  }

  let runs: [Run]
  let means: [ComparedRule: AdaptationFigures]

  init(_ traces: [BandwidthTrace]) {
    var runs: [Run] = []
    for trace in traces {
      var conditions = SimulationConditions()
      conditions.seconds = max(conditions.seconds, trace.seconds)
      for rule in ComparedRule.allCases {
        let result = rule.simulate(trace, .bench, conditions)
        let figures = AdaptationFigures(
          result, trace: trace, ladder: .bench, seconds: conditions.seconds)
        runs.append(Run(trace: trace, rule: rule, result: result, figures: figures))
      }
    }
    self.runs = runs
    means = Dictionary(grouping: runs, by: \.rule).mapValues {
      AdaptationFigures(meanOf: $0.map(\.figures))
    }
  }

  var rows: [AdaptationRow] {
    runs.map { AdaptationRow($0.rule, $0.trace.name, $0.figures) }
      + ComparedRule.allCases.compactMap { rule in
        means[rule].map { AdaptationRow(rule, "mean", $0) }
      }
  }

  var missedGoals: [String] {
    means[.stillstage]?.missedGoals(others: means.filter { $0.key != .stillstage }) ?? []
  }

  var text: String {
    let heading = [
      "connection", "rule", "stalls", "flips per minute", "multichannel", "restored in",
      "first sound",
    ]
    let cells = rows.map { row -> [String] in
      [
        shownName(row.trace), row.rule,
        "\(decimal(row.stallPercent, 2)) %", decimal(row.flipsPerMinute, 2),
        "\(decimal(row.multichannelPercent, 0)) %",
        row.restoreSeconds.map { "\(decimal($0, 1)) s" } ?? "-",
        row.startSeconds.map { "\(decimal($0, 1)) s" } ?? "-",
      ]
    }
    let verdict = missedGoals.isEmpty ? "met" : "MISSED: \(missedGoals.joined(separator: "; "))"
    return table([heading] + cells) + "\ngoals (docs/adaptation.md): \(verdict)\n"
  }
}

/// Returns a file's name without its folder.
private func shownName(_ path: String) -> String {
  path.split(separator: "/").last.map(String.init) ?? path
}

extension AdaptationTrial {
  /// The duration that a chart shows, in s.
  private static let shownSeconds = 600.0
  /// The lowest rate that a chart shows, in kbit/s.
  private static let leastRate = 20.0

  /// A chart of the rules of Stillstage and GStreamer, with two panels for each trace: the rates,
  /// and below them the duration of the buffered sound.
  fileprivate var chart: Chart {
    var panels: [ChartPanel] = []
    for run in runs where run.rule == .stillstage {
      let rival = runs.first { $0.rule == .gstreamer && $0.trace == run.trace }
      let both = [run] + (rival.map { [$0] } ?? [])
      let connection = Self.line(run.trace)
      panels.append(
        ChartPanel(
          xLabel: "time (s), \(shownName(run.trace.name))", yLabel: "rate (kbit/s)",
          yRange: Self.leastRate...max(1000, connection.y.max() ?? 0),
          yScale: .logarithmic(base: 10), series: [connection] + both.map(Self.heard)))
      panels.append(
        ChartPanel(
          xLabel: "time (s), \(shownName(run.trace.name))", yLabel: "buffer (s)",
          series: both.map(Self.buffer)))
    }
    return Chart(
      title: "Bandwidth, audio bit rate and buffer", panels: panels,
      size: ChartSize(width: 1200, height: 100 + 220 * panels.count))
  }

  private static func line(_ trace: BandwidthTrace) -> ChartSeries {
    var steps: [(Double, Double)] = []
    var time = 0.0
    while time < shownSeconds {
      let (rate, until) = trace.rate(at: time)
      steps += [(time, rate / 1000), (min(until, shownSeconds), rate / 1000)]
      time = max(until, time + 0.001)
    }
    return ChartSeries(name: "connection", x: steps.map(\.0), y: steps.map(\.1))
  }

  /// Returns the bit rate of the played sound over time, in kbit/s; a gap is a stall.
  private static func heard(_ run: Run) -> ChartSeries {
    let steps = run.result.heard.filter { $0.start < shownSeconds }.flatMap { stretch in
      let rate = stretch.rendition.map { Ladder.bench[$0].bitRate / 1000 } ?? .nan
      return [(stretch.start, rate), (min(stretch.start + stretch.seconds, shownSeconds), rate)]
    }
    return ChartSeries(
      name: run.rule.rawValue, x: steps.map(\.0), y: steps.map(\.1),
      isDashed: run.rule != .stillstage)
  }

  private static func buffer(_ run: Run) -> ChartSeries {
    var shown: [(time: Double, seconds: Double)] = []
    for point in run.result.buffer where point.time < shownSeconds {
      if point.time >= (shown.last?.time ?? -1) + 0.2 { shown.append(point) }
    }
    return ChartSeries(
      name: run.rule.rawValue, x: shown.map(\.time), y: shown.map(\.seconds),
      isDashed: run.rule != .stillstage)
  }
}
