// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Laboratory

/// The results of `bench adaptation` for the poor lines.
struct PoorLineReport {
  private let plain = PoorLineTrial(hasOutage: false)
  private let interrupted = PoorLineTrial(hasOutage: true)

  var missedFloors: [String] { plain.missedFloors }

  var rows: [AdaptationRow] { rows(plain, "poor") + rows(interrupted, "outage") }

  private func rows(_ trial: PoorLineTrial, _ kind: String) -> [AdaptationRow] {
    trial.lines.map { AdaptationRow(.stillstage, "\(kind)/\($0.name)", $0.figures) }
      + [AdaptationRow(.stillstage, "\(kind)/mean", trial.mean)]
  }

  var text: String {
    let (floors, goals) = (PoorLineTrial.floors, PoorLineTrial.goals)
    func row(
      _ name: String, _ cell: (PoorLineTrial) -> String, _ floor: String, _ goal: String
    ) -> [String] {
      [name, cell(plain), cell(interrupted), floor, goal]
    }
    let cells = [
      ["poor lines", "without an outage", "with a 30 s outage", "limit", "goal"],
      row(
        "time stalled", { "\(decimal($0.mean.stallPercent, 2)) %" },
        "\(decimal(floors.stall, 2)) %", "\(decimal(goals.stall, 2)) %"),
      row(
        "changes a minute",
        {
          let worst = $0.worst.map { ", worst \(decimal($0.figures.flipsPerMinute, 2))" } ?? ""
          return decimal($0.mean.flipsPerMinute, 2) + worst
        }, decimal(floors.flips, 2), decimal(goals.flips, 2)),
      row(
        "multichannel", { "\(decimal($0.mean.multichannelPercent, 1)) %" },
        "\(decimal(floors.multichannel, 0)) %", "\(decimal(goals.multichannel, 0)) %"),
      row(
        "back in multichannel", { $0.mean.restoreSeconds.map { "\(decimal($0, 1)) s" } ?? "-" },
        "\(decimal(floors.restore, 0)) s", "\(decimal(goals.restore, 0)) s"),
    ]
    let verdict = missedFloors.isEmpty ? "met" : "MISSED: \(missedFloors.joined(separator: "; "))"
    return "\n" + table(cells) + "\nlimits for the runs without an outage: \(verdict)\n"
  }
}
