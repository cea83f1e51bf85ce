// SPDX-License-Identifier: Apache-2.0

import Binaural
import CommandSupport
import Laboratory

extension BenchReport {
  /// The report as tables.
  var text: String {
    var text = "\(machine.processor), \(machine.cores) \(machine.cores == 1 ? "core" : "cores"), "
    text += "load \(decimal(machine.load, 1))\n"
    text += "kernels: \(instructionSet); peak of one core: \(decimal(peakGigaFLOPS, 0)) GFLOP/s\n"
    text += "CPU milliseconds per second of audio at \(sampleRate) Hz, with a turning head\n\n"
    let heading = [
      "renderer", "path", "source", "order", "block", "taps", "ms/s", "real time", "limit",
      "allocations", "locks", "retains",
    ]
    text += table([heading] + rows.map(cells))
    if ratios.isEmpty { return text }
    return text + "\n" + table(ratios.map(cells))
  }

  private func cells(_ row: BenchRow) -> [String] {
    let job = row.job
    let counts = row.operations.map {
      ["\($0.allocations)", "\($0.locks)", "\($0.retains)"]
    }
    return [
      job.renderer.rawValue, job.path.rawValue, job.source, "\(job.order)", "\(job.blockFrames)",
      "\(job.taps)", decimal(row.millisecondsPerSecond, 3),
      "x\(decimal(row.realTimeMultiple, row.realTimeMultiple < 10 ? 2 : 0))",
      row.shareOfLimit.map { decimal(100 * $0, 1) + " %" } ?? "-",
    ] + (counts ?? ["-", "-", "-"])
  }

  private func cells(_ ratio: BenchRatio) -> [String] {
    let limit =
      ratio.atMost.map { "at most \(decimal($0, 2))" }
      ?? ratio.atLeast.map { "at least \(decimal($0, 0))" } ?? ""
    return [
      ratio.name, decimal(ratio.value, 2), limit, ratio.isMet ? "met" : "MISSED",
    ]
  }
}
