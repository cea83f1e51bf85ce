// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import CommandSupport
import FoundationEssentials
import Glibc
import Laboratory
import SignalProcessing

func benchRenderCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let picture = try chartPath(command)
  let plan = BenchPlan(
    orders: command[Options.benchOrders], blocks: command[Options.benchBlocks],
    isQuick: command[Options.quick])
  var rows = try measured(plan.jobs, BenchMeasurement(isQuick: plan.isQuick))
  count(&rows.rows, command)
  if Signals.received != nil { throw .interrupted }
  let report = BenchReport(
    machine: .current, instructionSet: "\(InstructionSet.current)",
    peakGigaFLOPS: rows.peak * 1e-9, sampleRate: BenchFilters.sampleRate, rows: rows.rows,
    ratios: BenchRatio.all(rows.rows))
  if let picture { try draw(report, to: picture) }
  if command[Options.json] {
    try printJSON(report)
  } else {
    try printOutput(report.text)
  }
}

/// Measures the jobs, and leaves out those that did not run. If a decoder's bare loop runs, the two
/// are measured alternately, twice each, so that a disturbance affects both. The faster result
/// counts.
private func measured(
  _ jobs: [BenchJob], _ measurement: BenchMeasurement
) throws(CommandFailure) -> (rows: [BenchRow], peak: Double) {
  var rows: [BenchRow] = []
  let progress = BenchProgress(total: jobs.count)
  defer { progress.end() }
  for job in jobs {
    if Signals.received != nil { throw .interrupted }
    progress.show(rows.count)
    guard let row = try measurement.row(job) else { continue }
    rows.append(row)
    guard job.renderer == .bareLoop, let own = rows.firstIndex(where: { $0.job.isRival(of: job) })
    else { continue }
    for at in [own, rows.count - 1] {
      guard let again = try measurement.row(rows[at].job) else { continue }
      if again.millisecondsPerSecond < rows[at].millisecondsPerSecond { rows[at] = again }
    }
  }
  return (rows, measurement.limit.peak)
}

extension BenchJob {
  /// Returns whether this job is our decoder with the same work as `job`.
  func isRival(of job: BenchJob) -> Bool {
    var same = job
    same.renderer = .decoder
    return self == same
  }
}

/// Adds the operation counts that the program with counters (Tests/CountedSections) reports. Does
/// nothing if this is that program, or if that program is missing or fails.
private func count(_ rows: inout [BenchRow], _ command: ParsedCommand) {
  guard BenchOperations.now == nil, let program = Peer.program("stillstage-bench-counted") else {
    return
  }
  func list(_ numbers: [Int]) -> String { numbers.map { "\($0)" }.joined(separator: ",") }
  var words = [
    program, "bench", "render", "--json", "--orders", list(command[Options.benchOrders]),
    "--blocks", list(command[Options.benchBlocks]),
  ]
  if command[Options.quick] { words.append("--quick") }
  guard let text = HelperProgram.output(of: words),
    let report = try? JSONDecoder().decode(BenchReport.self, from: Data(text.utf8))
  else { return }
  for i in rows.indices {
    rows[i].operations = report.rows.first { $0.job == rows[i].job }?.operations
  }
}
