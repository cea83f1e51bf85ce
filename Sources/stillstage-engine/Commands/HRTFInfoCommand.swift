// SPDX-License-Identifier: Apache-2.0

import Binaural
import CommandOptions
import CommandSupport

/// Runs `stillstage hrtf info`. If the file fails a check, still prints the summary, and then
/// throws an error.
func hrtfInfoCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let summary: HRTFSummary
  let loader = SofaLoader(isCancelled: { Signals.received != nil })
  do throws(HRTFError) {
    summary = try during("reading the HRTF set") { () throws(HRTFError) in
      try HRTFSummary(path: command[Arguments.sofaFile], loader: loader)
    }
  } catch {
    if error == .interrupted { throw .interrupted }
    throw CommandFailure(error.description)
  }
  if command[Options.json] {
    try printJSON(HRTFRecord(summary))
  } else {
    try printOutput(table(rows(summary)))
  }
  guard summary.isUsable else {
    let error = HRTFError.refused(
      path: summary.path, check: summary.reasons.joined(separator: "; "))
    throw CommandFailure(error.description)
  }
}

private func rows(_ summary: HRTFSummary) -> [[String]] {
  let named: [(String, String?)] = [
    ("file", summary.path), ("convention", summary.convention), ("title", summary.title),
    ("database", summary.database), ("listener", summary.listener),
    ("organization", summary.organization), ("license", summary.license),
    ("sample rate", summary.sampleRate.map { "\(plain($0)) Hz" }),
    ("impulse responses", summary.taps.map { "\($0) samples" }),
    ("measurements", summary.measurements.map { "\($0)" }),
  ]
  var rows = named.compactMap { name, value in
    value.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : [name, $0.withoutControls] }
  }
  if let content = summary.content { rows += contentRows(content) }
  rows.append(["decoder delay", "\(plain(HRTFRecord.decoderDelayMilliseconds)) ms"])
  rows.append(["usable", summary.isUsable ? "yes" : "no"])
  rows += summary.reasons.map { [summary.isUsable ? "note" : "reason", $0.withoutControls] }
  return rows
}

private func contentRows(_ content: HRTFSummary.Content) -> [[String]] {
  let (low, high) = (content.elevations.lowerBound, content.elevations.upperBound)
  let delays = content.delays.map {
    "\(decimal($0.lowerBound, 2)) to \(decimal($0.upperBound, 2)) samples"
  }
  let declared = content.declaredChannelZero.map { "declared: \($0)" } ?? "not declared"
  return [
    ["directions", "\(content.directions)"],
    ["elevations", "\(decimal(low, 1)) to \(decimal(high, 1)) degrees"],
    [
      "largest gap",
      "\(decimal(content.largestGapDegrees, 1)) degrees, from the least covered point to the "
        + "nearest direction",
    ],
    [
      "head circumference",
      content.headCircumference.map { "\(decimal(100 * $0, 1)) cm, from the interaural delays" }
        ?? "unknown",
    ],
    ["radius", "\(decimal(content.radius, 2)) m"],
    ["delays", delays ?? "none"],
    ["channel 0", "\(content.trueChannelZero) ear (\(declared))"],
    ["energy ratio", "\(decimal(content.energyRatio, 1)), largest to smallest response"],
    ["diffuse-field level", "\(decimal(content.diffuseFieldLevelDecibels, 2)) dB"],
  ]
}

/// Returns a whole number without decimals, and any other number with three decimals.
private func plain(_ value: Double) -> String {
  decimal(value, value == value.rounded() ? 0 : 3)
}
