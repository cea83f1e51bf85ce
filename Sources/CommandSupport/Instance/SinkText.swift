// SPDX-License-Identifier: Apache-2.0

/// The state of a running instance of `sink`, as text.
package enum SinkText {
  /// Returns the status line: the stage, the output and the programs on virtual sinks.
  package static func line(_ record: SinkRecord) -> String {
    let programs = record.streams.filter(\.isSpatial)
      .map { "\($0.application) \($0.layout)" + ($0.isPaused ? " (paused)" : "") }
    return [
      stage(record), record.output?.description ?? "no output device",
      programs.isEmpty ? "no programs" : programs.joined(separator: ", "),
    ].joined(separator: "  ").withoutControls
  }

  /// Returns the text for `--status`, with a line break after each line.
  package static func status(_ record: SinkRecord) -> String {
    var rows = [
      ["process", "\(record.pid)"],
      ["server", record.server],
      ["output", record.output.map(output) ?? "none"],
      ["default", record.isDefault ? "yes" : "no"],
      ["stage", stage(record)],
    ]
    if let tracker = record.tracker { rows.append(["tracker", tracker.name]) }
    for sink in record.sinks {
      rows.append([sink.sink, details(sink).joined(separator: ", ")])
    }
    for stream in record.streams {
      let place = stream.isSpatial ? stream.sink ?? "" : "plain, on the output device"
      rows.append(["program", "\(stream.application) (\(stream.layout)): \(place)"])
    }
    return table(rows.map { $0.map(\.withoutControls) })
  }

  private static func details(_ sink: SinkRecord.Sink) -> [String] {
    var parts = [sink.isInUse ? "in use" : "idle"]
    if let delay = sink.rendererDelayMilliseconds { parts.append("renderer \(tenths(delay)) ms") }
    if let latency = sink.latencyMilliseconds { parts.append("output \(tenths(latency)) ms") }
    if sink.underruns > 0 {
      parts.append("\(sink.underruns) underrun" + (sink.underruns == 1 ? "" : "s"))
    }
    return parts
  }

  private static func output(_ output: SinkRecord.Output) -> String {
    let device =
      output.device == "unknown"
      ? "the server does not report whether headphones are connected" : output.device
    return "\(output.description) (\(device))"
  }

  private static func stage(_ record: SinkRecord) -> String {
    switch record.mode {
    case "off": return "plain stereo"
    case "fixed": return "stage fixed to the head"
    default: break
    }
    guard let pose = record.pose, let tracker = record.tracker else { return "no tracker" }
    let angles = [("yaw", pose.yaw), ("pitch", pose.pitch), ("roll", pose.roll)]
      .map { "\($0.0) \(Int($0.1.rounded()))" }.joined(separator: " ")
    return angles + (tracker.isFresh ? "  \(Int(tracker.rate.rounded())) Hz" : "  tracker silent")
  }

  private static func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
