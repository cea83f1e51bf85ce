// SPDX-License-Identifier: Apache-2.0

import Charts
import CommandOptions
import CommandSupport

/// Returns the path given with `--chart`; nil if the option is not set.
///
/// - Throws: `CommandFailure` if no chart can be written to the path.
func chartPath(_ command: ParsedCommand) throws(CommandFailure) -> String? {
  guard let path = command[Options.chart] else { return nil }
  do throws(ChartError) { try Chart.check(path: path) } catch {
    if case .unknownFormat = error { throw .usage(error.description) }
    throw CommandFailure(error.description)
  }
  try TextOutput(path: path).check()
  return path
}

extension Chart {
  func draw(to path: String) throws(CommandFailure) {
    do throws(ChartError) { try write(to: path) } catch {
      throw CommandFailure(error.description)
    }
  }
}

/// Plots the cost against the block size and against the ambisonic order.
func draw(_ report: BenchReport, to path: String) throws(CommandFailure) {
  let chart = Chart(
    title: "Rotation and decoding, head turning, 512 taps unless stated: "
      + report.machine.processor,
    panels: [report.costAgainstBlock, report.costAgainstOrder],
    size: ChartSize(width: 900, height: 900))
  try chart.draw(to: path)
}

extension BenchReport {
  private static let yLabel = "CPU ms per second of audio"

  fileprivate var costAgainstBlock: ChartPanel {
    let orders = Set(rows.map(\.job.order)).sorted()
    let own = orders.map { order in
      series("order \(order)", by: \.blockFrames) { $0.renderer == .decoder && $0.order == order }
    }
    let loop = orders.map { order in
      series("bare loop, \(order)", isDashed: true, by: \.blockFrames) {
        $0.renderer == .bareLoop && $0.order == order
      }
    }
    return ChartPanel(
      xLabel: "block (frames)", yLabel: Self.yLabel, xScale: .logarithmic(base: 2),
      yScale: .logarithmic(base: 10), series: (own + loop).filter { !$0.x.isEmpty })
  }

  /// The peer's name and, if the peer was measured, its filter length.
  private var peerName: String {
    let taps = rows.first { $0.job.renderer == .libspatialaudio }?.job.taps
    return taps.map { "libspatial., \($0) taps" } ?? "libspatial."
  }

  fileprivate var costAgainstOrder: ChartPanel {
    let kinds: [(String, BenchJob.Renderer, BenchJob.Path?)] = [
      ("ours, full", .decoder, .full), ("ours, half", .decoder, .symmetric),
      ("bare, full", .bareLoop, .full), ("bare, half", .bareLoop, .symmetric),
      ("render call", .renderer, nil), (peerName, .libspatialaudio, .full),
    ]
    let lines = kinds.map { name, renderer, path in
      series(name, isDashed: renderer == .bareLoop, path: path, taps: nil, by: \.order) {
        $0.renderer == renderer && $0.blockFrames == 128 && $0.source == "ambisonics"
      }
    }
    return ChartPanel(
      xLabel: "order, at block 128", yLabel: Self.yLabel, yScale: .logarithmic(base: 10),
      series: lines.filter { !$0.x.isEmpty })
  }

  private func series(
    _ name: String, isDashed: Bool = false, path: BenchJob.Path? = .full, taps: Int? = 512,
    by key: (BenchJob) -> Int,
    where belongs: (BenchJob) -> Bool
  ) -> ChartSeries {
    let points = rows.filter {
      guard $0.job.path == path ?? $0.job.path, belongs($0.job) else { return false }
      // If `taps` is nil, show libspatialaudio with any filter length and the others with 512 taps.
      return $0.job.taps == taps ?? ($0.job.renderer == .libspatialaudio ? $0.job.taps : 512)
    }.sorted { key($0.job) < key($1.job) }
    return ChartSeries(
      name: name, x: points.map { Double(key($0.job)) }, y: points.map(\.millisecondsPerSecond),
      isDashed: isDashed)
  }
}
