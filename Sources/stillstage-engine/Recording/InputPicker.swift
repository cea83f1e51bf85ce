// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Capture
import CommandSupport
import Glibc
import PulseAudio
import SoundServer

/// Shows the inputs and their levels on the terminal, and lets the user choose one.
struct InputPicker {
  private static let barWidth = 24

  let showsMonitors: Bool
  private let store = InputStore()
  private var selected: String?
  private var holds: [String: PeakHold] = [:]
  private var peaks: [String: [Float]] = [:]
  private var shownLines = 0
  /// Why the selected input was refused when the user pressed Enter; nil if it was not refused.
  private var refusal: String?

  init(showsMonitors: Bool) { self.showsMonitors = showsMonitors }

  /// Runs until an input is remembered, or until `q` or a signal ends the command.
  func run() throws(CommandFailure) {
    var picker = self
    try picker.pick()
  }

  private mutating func pick() throws(CommandFailure) {
    let inputs: Inputs
    do throws(SoundServerError) {
      inputs = try Inputs(metering: showsMonitors ? .inputsAndMonitors : .inputs)
    } catch { throw CommandFailure(error.message) }
    let console = Console()
    defer { console.restore() }
    selected = store.read()
    while true {
      let shown = inputs.current.filter { showsMonitors || !$0.isMonitor }
      for key in console.keys(waitMilliseconds: 60) {
        switch key {
        case .louder: move(-1, among: shown)
        case .softer: move(1, among: shown)
        case .enter:
          guard let input = current(among: shown) else { continue }
          refusal = InputStore.refusal(of: input)
          guard refusal == nil else { continue }
          try store.remember(input.name)
          return try printOutput("\(input.name.withoutControls) is remembered for recordings.\n")
        case .quit: return
        default: break
        }
      }
      if Signals.received != nil { throw .interrupted }
      measure(inputs.takePeaks())
      show(shown)
    }
  }

  private func current(among inputs: [Input]) -> Input? {
    inputs.first { $0.name == selected } ?? inputs.first(where: \.isDefault) ?? inputs.first
  }

  private mutating func move(_ step: Int, among inputs: [Input]) {
    guard let now = inputs.firstIndex(where: { $0.name == current(among: inputs)?.name }) else {
      return
    }
    selected = inputs[max(0, min(inputs.count - 1, now + step))].name
    refusal = nil
  }

  private mutating func measure(_ new: [String: [Float]]) {
    let now = Double(monotonic_nanoseconds()) * 1e-9
    for (name, levels) in new {
      peaks[name] = levels
      holds[name, default: PeakHold()].add(levels, at: now)
    }
  }

  private mutating func show(_ inputs: [Input]) {
    let remembered = store.read()
    let chosen = current(among: inputs)?.name
    var lines = ["Up and Down choose an input, Enter remembers it, q ends the command."]
    for input in inputs {
      var marks: [String] = []
      if input.isDefault { marks.append("default") }
      if input.name == remembered { marks.append("remembered") }
      if input.isMonitor { marks.append("monitor") }
      let note = marks.isEmpty ? "" : " (\(marks.joined(separator: ", ")))"
      lines.append(
        (input.name == chosen ? "> " : "  ") + input.description.withoutControls + note
          + ", \(input.channelCount) ch, \(input.sampleRate) Hz, "
          + input.microphoneModes.map(\.rawValue).joined(separator: "/"))
      let levels = peaks[input.name] ?? [Float](repeating: 0, count: input.channelCount)
      let held = holds[input.name]?.levels ?? levels
      let bars = zip(levels, held).prefix(4).map {
        LevelBar.bar($0, hold: $1, width: max(6, Self.barWidth * 2 / max(2, levels.count)))
      }
      lines.append("    " + bars.joined(separator: " "))
    }
    if let remembered, !inputs.contains(where: { $0.name == remembered }) {
      lines.append("The remembered input \(remembered.withoutControls) is not in this list.")
    }
    if let refusal { lines.append(refusal) }
    if inputs.isEmpty { lines.append("There are no inputs to show; connect a microphone.") }
    draw(lines)
  }

  /// Draws the lines in place of the lines from the previous call.
  private mutating func draw(_ lines: [String]) {
    var size = winsize()
    let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    let width = isKnown ? Int(size.ws_col) : 80
    let height = isKnown ? Int(size.ws_row) : 24
    let visible = lines.prefix(max(2, height - 1))
    var text = shownLines > 0 ? "\u{1B}[\(shownLines)A\r\u{1B}[J" : ""
    for line in visible { text += line.prefix(width - 1) + "\n" }
    shownLines = visible.count
    writeText(text, to: STDOUT_FILENO)
  }
}
