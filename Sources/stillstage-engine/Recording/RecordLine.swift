// SPDX-License-Identifier: Apache-2.0

import Capture
import CommandSupport
import Glibc
import Rendering

/// The status line of `record` and `listen`.
struct RecordLine {
  private static let window = 30.0
  private static let radians = 180 / Double.pi

  private var hold = PeakHold()
  private var history: [(time: Double, power: Double)] = []
  private var direction: FieldDirection?

  /// Adds the levels of the sound since the last call.
  ///
  /// - Parameter time: the present time on any steady clock, in seconds.
  mutating func add(_ levels: RecorderLevels, at time: Double) {
    guard !levels.peaks.isEmpty else { return }
    hold.add(levels.peaks, at: time)
    direction = levels.direction
    let power = levels.rms.map { Double($0 * $0) }.max() ?? 0
    history.append((time, power))
    history.removeAll { time - $0.time > Self.window }
  }

  func text(
    _ status: RecorderStatus, levels: RecorderLevels, gainDecibels: Double, freeSeconds: Double?,
    isArmed: Bool
  ) -> String {
    var parts = [clock(status.seconds) + state(status, isArmed: isArmed)]
    let mean = history.reduce(0) { $0 + $1.power } / Double(max(1, history.count))
    parts.append(
      zip(levels.peaks, hold.levels).map { LevelBar.bar($0, hold: $1, width: 8) }
        .joined(separator: " "))
    parts.append("peak \(LevelBar.numbers([hold.levels.max() ?? 0]))")
    parts.append("30 s \(LevelBar.numbers([Float(mean.squareRoot())])) dB")
    if let direction {
      parts.append(
        "from \(decimal(direction.azimuth * Self.radians, 0)),"
          + "\(decimal(direction.elevation * Self.radians, 0))")
    }
    if status.gaps > 0 {
      parts.append("gaps \(status.gaps) (\(decimal(status.gapSeconds, 2)) s)")
    }
    if status.clippedSamples > 0 { parts.append("clipped \(status.clippedSamples)") }
    if gainDecibels != 0 { parts.append("gain \(decimal(gainDecibels, 0)) dB") }
    if let freeSeconds { parts.append("\(clock(freeSeconds)) free") }
    return parts.joined(separator: "  ")
  }

  private func state(_ status: RecorderStatus, isArmed: Bool) -> String {
    switch status.state {
    case .recording, .finished, .failed: ""
    case .paused: isArmed ? " press space to record" : " paused"
    case .waiting: " no sound"
    }
  }

  private func clock(_ seconds: Double) -> String {
    let whole = Int(max(0, min(seconds, 359_999)))
    let minutes = "\(whole / 60 % 60)".leftPadded
    return "\(whole / 3600):\(minutes):\("\(whole % 60)".leftPadded)"
  }
}

extension String {
  fileprivate var leftPadded: String { count < 2 ? "0" + self : self }
}

/// The summary of a recording, as text and as values for the event log.
struct RecordSummary {
  let text: String
  let values: [String: EventLog.Value]

  init(_ status: RecorderStatus, loudness: Double?) {
    var parts = [
      "\(decimal(status.seconds, 3)) s",
      "gaps \(status.gaps) (\(decimal(status.gapSeconds, 3)) s)",
      status.driftPartsPerMillion.map { "drift \(decimal($0, 1)) ppm" } ?? "drift unknown",
      "peak \(status.peak > 0 ? decimal(decibels(status.peak), 1) + " dBFS" : "none")",
      "loudness \(loudness.map { decimal($0, 1) + " LUFS" } ?? "none")",
    ]
    if status.clippedSamples > 0 { parts.append("clipped samples \(status.clippedSamples)") }
    if status.invalidSamples > 0 { parts.append("invalid samples \(status.invalidSamples)") }
    text = parts.joined(separator: ", ")
    var values: [String: EventLog.Value] = [
      "seconds": .number(status.seconds), "frames": .integer(Int(status.frames)),
      "gaps": .integer(status.gaps), "gapSeconds": .number(status.gapSeconds),
      "clippedSamples": .integer(status.clippedSamples),
      "invalidSamples": .integer(status.invalidSamples),
    ]
    if let drift = status.driftPartsPerMillion { values["driftPpm"] = .number(drift) }
    if status.peak > 0 { values["peakDbfs"] = .number(decibels(status.peak)) }
    if let loudness { values["loudnessLufs"] = .number(loudness) }
    self.values = values
  }
}

/// An event of a recording, as a line of the event log and as a note for the user.
struct RecorderEventText {
  let name: String
  let values: [String: EventLog.Value]
  /// The note; nil if the event needs none.
  let note: String?

  init(_ event: RecorderEvent, sampleRate: Int) {
    let seconds = Double(event.position) / Double(max(1, sampleRate))
    var own: [String: EventLog.Value] = [:]
    switch event.kind {
    case .started(let input, let rate, let map):
      (name, note) = ("start", nil)
      own = [
        "input": .text(input), "sampleRate": .integer(rate),
        "channelMap": .text(map.joined(separator: ",")),
      ]
    case .gap(let gap):
      name = "gap"
      own = ["cause": .text(gap.cause.rawValue), "seconds": .number(gap.seconds)]
      note =
        gap.cause == .inputChanged
        ? nil
        : "\(gap.length) of sound is missing at \(decimal(seconds, 3)) s (\(gap.cause.text))"
    case .waiting(let cause, let reason):
      name = "waiting"
      own = ["cause": .text(cause.rawValue), "reason": .text(reason)]
      note = "no sound is arriving (\(reason))"
    case .returned(let input): (name, own, note) = ("returned", ["input": .text(input)], nil)
    case .inputChanged(let input):
      (name, own, note) = ("input", ["input": .text(input)], "now recording '\(input)'")
    case .formatChanged(let rate, let map):
      name = "format"
      own = ["sampleRate": .integer(rate), "channelMap": .text(map.joined(separator: ","))]
      note =
        "the input's format is now \(rate) Hz, \(map.count) ch; the sound is converted to the "
        + "format of the recording"
    case .paused: (name, note) = ("paused", nil)
    case .resumed: (name, note) = ("resumed", nil)
    case .failed(let reason): (name, own, note) = ("failed", ["reason": .text(reason)], nil)
    }
    own["position"] = .number(seconds)
    values = own
  }
}

extension Gap {
  /// The length in seconds, for example "0.250 s".
  fileprivate var length: String {
    seconds < 0.0005 ? "less than 0.001 s" : "\(decimal(seconds, 3)) s"
  }
}

extension Gap.Cause {
  fileprivate var text: String {
    switch self {
    case .device: "the input delivered too little sound"
    case .dropped: "the sound server lost it"
    case .overrun: "the disk or this program was too slow"
    case .suspended: "the input was suspended"
    case .inputLost: "the input was lost"
    case .inputMoved: "the sound server moved the recording to another input"
    case .serverLost: "the connection to the sound server was lost"
    case .serverFrozen: "the sound server did not answer"
    case .formatChanged: "the input's format changed"
    case .inputChanged: "another input was chosen"
    }
  }
}
