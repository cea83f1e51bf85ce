// SPDX-License-Identifier: Apache-2.0

import Binaural
import Charts
import CommandSupport
import Laboratory

extension LatencyReport {
  /// The report as tables.
  var text: String {
    let cores = machine.cores == 1 ? "1 core" : "\(machine.cores) cores"
    var text = "\(machine.processor), \(cores), load \(decimal(machine.load, 1))\n"
    text += "tracker at \(decimal(trackerRate, 0)) Hz; all times in milliseconds\n"
    for chain in chains { text += "\n" + (chains.count == 1 ? chain.text : chain.shortText) }
    if chains.count > 1 { text += "\n" + comparison }
    text += "\nrenderer alone: from a pose change at its input to the turn in its output\n"
    text += rendererTable
    for note in notes { text += "note: \(note)\n" }
    return text
  }

  private var rendererTable: String {
    let heading = [
      "block", "begin (frames)", "half (frames)", "settled (frames)", "half", "worst case",
      "render call p50", "p99",
    ]
    return table(
      [heading]
        + renderer.map { row in
          [
            "\(row.blockFrames)", decimal(row.beginFrames, 0), decimal(row.halfFrames, 0),
            decimal(row.settledFrames, 0), decimal(row.halfMilliseconds, 2),
            decimal(row.worstMilliseconds, 2), decimal(row.render?.p50 ?? 0, 3),
            decimal(row.render?.p99 ?? 0, 3),
          ]
        })
  }

  private var comparison: String {
    let heading = [
      "server", "output", "requested", "queue p50", "latency p50", "p95", "p99", "max",
      "settled p50", "p95", "underruns", "unreadable",
    ]
    return table(
      [heading]
        + chains.map { chain in
          [
            chain.setting.server.rawValue, chain.setting.output.rawValue,
            chain.setting.queueMilliseconds.map { decimal($0, 0) } ?? "-",
            shown(chain.queue?.p50), shown(chain.latency?.p50), shown(chain.latency?.p95),
            shown(chain.latency?.p99), shown(chain.latency?.maximum), shown(chain.settled?.p50),
            shown(chain.settled?.p95), "\(chain.underruns)", "\(chain.unreadableSteps)",
          ]
        })
  }
}

private func shown(_ value: Double?) -> String { value.map { decimal($0, 1) } ?? "-" }

extension ChainFigures {
  fileprivate var shortText: String { "\(setting.title): \(captureText)" }

  fileprivate var text: String {
    var text = "chain: \(setting.title); \(steps) turns of 90 degrees"
    if unreadableSteps > 0 { text += ", \(unreadableSteps) of them unreadable in the recording" }
    text += "\n"
    let heading = ["", "p50", "p95", "p99", "max", "min", "turns"]
    let times: [(String, Distribution?)] = [
      ("start of the turn", begin), ("latency (midpoint of the turn)", latency),
      ("settled", settled), ("queue and sink, as reported", queue), ("queue alone", queued),
    ]
    text += table([heading] + times.map(Self.cells))
    text += "\nstages\n"
    text += table([heading] + stages.rows.map { Self.cells(($0.name, $0.values)) })
    if let injected {
      text += """
        injected delay: \(decimal(injected.milliseconds, 2)); found: \
        \(decimal(injected.foundMilliseconds, 2)) +- \(decimal(injected.uncertaintyMilliseconds, 2))

        """
    }
    let depth = decimal(grantedQueueMilliseconds, 1)
    text += "underruns: \(underruns); queue or PipeWire cycle granted by the server: \(depth) ms\n"
    if setting.output == .rewritten {
      text += """
        rewriting \(rewriting): \(rewrites) windows were written, \(lostRewriteHeads) of which \
        lost their start; \(lateRewrites) more came too late to be written; \
        margin at the end: \(decimal(rewriteMarginMilliseconds, 1))

        """
    }
    return text + captureText
  }

  private var captureText: String {
    let how = capture.timing == .reported ? "reported by the server" : "taken on arrival"
    return """
      recording: times \(how), jitter \(decimal(capture.jitterMilliseconds, 2)) rms; frames appear \
      \(decimal(capture.differenceMilliseconds, 2)) after their announced times (median), \
      95 % of them within +-\(decimal(capture.spreadMilliseconds, 2)) of the median

      """
  }

  private static func cells(_ row: (String, Distribution?)) -> [String] {
    guard let values = row.1 else { return [row.0, "-"] }
    return [row.0]
      + [values.p50, values.p95, values.p99, values.maximum, values.minimum].map { decimal($0, 2) }
      + ["\(values.count)"]
  }
}

extension LatencyReport {
  /// Histograms of the latency. For several settings, also a plot of the 95th percentile of the
  /// latency against the median delay of queue and sink.
  var chart: Chart {
    let histogram = ChartPanel(
      xLabel: "latency (ms)", yLabel: "turns (%)",
      series: chains.map { chain in
        Histogram(chain.latencies).series(
          chains.count == 1 ? "midpoint of the turn" : chain.setting.shortTitle,
          isDashed: chain.setting.output == .appended && chains.count > 1)
      })
    var panels = [histogram]
    if chains.count > 1 { panels.append(overDepth) }
    return Chart(
      title: "Rotation latency: \(machine.processor)", panels: panels,
      size: ChartSize(width: 1000, height: 100 + 400 * panels.count))
  }

  private var overDepth: ChartPanel {
    var lines: [ChartSeries] = []
    for server in LatencySetting.Server.allCases {
      for output in LatencySetting.Output.allCases {
        let own = chains.filter { $0.setting.server == server && $0.setting.output == output }
          .filter { $0.latency != nil && $0.queue != nil }
        guard !own.isEmpty else { continue }
        lines.append(
          ChartSeries(
            name: "\(server.rawValue) \(output.rawValue)", x: own.map { $0.queue?.p50 ?? 0 },
            y: own.map { $0.latency?.p95 ?? 0 }, isDashed: output == .appended))
      }
    }
    return ChartPanel(xLabel: "queue (ms, p50)", yLabel: "latency (ms, p95)", series: lines)
  }
}

extension LatencySetting {
  fileprivate var shortTitle: String {
    let depth = queueMilliseconds.map { "\(decimal($0, 0)) ms" } ?? ""
    return "\(server.rawValue) \(output.rawValue) \(depth)"
  }
}

/// A histogram in percent. The bins are at least 0.5 ms wide.
private struct Histogram {
  private var x: [Double] = []
  private var y: [Double] = []

  init(_ values: [Double]) {
    guard let least = values.min(), let most = values.max() else { return }
    let width = max(0.5, ((most - least) / 40).rounded(.up))
    var edge = (least / width).rounded(.down) * width - width
    while edge <= most + width {
      let share = Double(values.count { $0 >= edge && $0 < edge + width })
      x += [edge, edge + width]
      y += [100 * share / Double(values.count), 100 * share / Double(values.count)]
      edge += width
    }
  }

  func series(_ name: String, isDashed: Bool) -> ChartSeries {
    ChartSeries(name: name, x: x, y: y, isDashed: isDashed)
  }
}
