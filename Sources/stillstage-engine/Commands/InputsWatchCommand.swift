// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Capture
import CommandOptions
import CommandSupport
import Glibc
import PulseAudio
import Rendering
import SoundServer

func inputsWatchCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let id = command.all(Arguments.optionalInputID).first
  var metering = Inputs.Metering.inputs
  if command[Options.monitors] { metering = .inputsAndMonitors }
  if let id { metering = .one(try namedInput(id, among: try currentInputs()).name) }
  let inputs: Inputs
  do throws(SoundServerError) {
    inputs = try during("asking the sound server") { () throws(SoundServerError) in
      _ = try Inputs.list()
      return try Inputs(metering: metering)
    }
  } catch { throw CommandFailure(error.message) }
  let console = Console()
  defer {
    console.clear()
    console.restore()
  }
  let display = LevelDisplay(isJSON: command[Options.json], console: console)
  let start = monotonic_nanoseconds()
  let end = command[Options.watchSeconds].map { start + Int64($0 * 1e9) } ?? .max
  var next = start + LevelDisplay.interval
  while monotonic_nanoseconds() < end {
    let wait = max(1, min(100, (min(next, end) - monotonic_nanoseconds()) / 1_000_000))
    if console.keys(waitMilliseconds: Int32(wait)).contains(.quit) { return }
    if Signals.received != nil { throw .interrupted }
    guard monotonic_nanoseconds() >= next else { continue }
    next += LevelDisplay.interval
    let known = inputs.current.filter { metering.includes($0) }
    try display.show(
      known, inputs.takePeaks(), seconds: Double(monotonic_nanoseconds() - start) * 1e-9)
  }
}

private final class LevelDisplay {
  /// The time between two updates of the levels, in ns.
  static let interval: Int64 = 100_000_000

  private let isJSON: Bool
  private let console: Console
  /// The names that have been written, each mapped to its JSON string.
  private var printed: [String: String] = [:]

  init(isJSON: Bool, console: Console) { (self.isJSON, self.console) = (isJSON, console) }

  func show(
    _ inputs: [Input], _ peaks: [String: [Float]], seconds: Double
  ) throws(CommandFailure) {
    if isJSON || !console.isInteractive {
      var text: [UInt8] = []
      let time = decimal(seconds, isJSON ? 3 : 2)
      for input in inputs {
        guard let levels = peaks[input.name] else { continue }
        if isJSON {
          appendJSON(input, levels, time, to: &text)
        } else {
          text += line(input, levels, time).utf8
        }
        text.append(UInt8(ascii: "\n"))
      }
      return try printOutput(String(decoding: text, as: UTF8.self))
    }
    let texts = inputs.map { input in
      let levels = peaks[input.name] ?? []
      return input.description.prefix(24) + " " + LevelBar.numbers(levels)
    }
    console.show(texts.joined(separator: " | ").withoutControls)
  }

  private func line(_ input: Input, _ levels: [Float], _ time: String) -> String {
    "\(time) \(input.name) \(LevelBar.numbers(levels))".withoutControls
  }

  /// Appends the levels as a JSON object. Works on bytes, because strings would be slower.
  private func appendJSON(
    _ input: Input, _ levels: [Float], _ time: String, to text: inout [UInt8]
  ) {
    text += "{\"id\":".utf8
    text += quoted(input.name).utf8
    text += ",\"peaks\":[".utf8
    for (channel, level) in levels.enumerated() {
      if channel > 0 { text.append(UInt8(ascii: ",")) }
      guard level > 0 else {
        text += "null".utf8
        continue
      }
      appendHundredths(decibels(level), to: &text)
    }
    text += "],\"t\":".utf8
    text += time.utf8
    text.append(UInt8(ascii: "}"))
  }

  /// Appends `value` with two decimals. The magnitude of `value` must be at most 9999.99.
  private func appendHundredths(_ value: Double, to text: inout [UInt8]) {
    let units = Int((value * 100).rounded())
    let magnitude = abs(units)
    if units < 0 { text.append(UInt8(ascii: "-")) }
    var divisor = 100_000
    while divisor > 100, magnitude < divisor { divisor /= 10 }
    while divisor > 0 {
      text.append(UInt8(ascii: "0") + UInt8(magnitude / divisor % 10))
      if divisor == 100 { text.append(UInt8(ascii: ".")) }
      divisor /= 10
    }
  }

  private func quoted(_ text: String) -> String {
    if let known = printed[text] { return known }
    let plain = text.withoutControls.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    printed[text] = "\"\(plain)\""
    return "\"\(plain)\""
  }
}
