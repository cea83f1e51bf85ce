// SPDX-License-Identifier: Apache-2.0

import Capture
import CommandOptions
import CommandSupport
import Glibc
import PulseAudio
import SoundServer

func inputsCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let all = try currentInputs()
  let inputs = all.filter { command[Options.monitors] || !$0.isMonitor }
  let remembered = InputStore().read()
  if command[Options.json] {
    return try printJSON(inputs.map { InputRecord($0, remembered: remembered) })
  }
  if isTerminal(STDOUT_FILENO), isTerminal(STDIN_FILENO) {
    return try InputPicker(showsMonitors: command[Options.monitors]).run()
  }
  if let remembered, !all.contains(where: { $0.name == remembered }) {
    printNote(
      "the remembered input '\(remembered)' is missing; connect it, or choose another input"
        .withoutControls)
  }
  guard !inputs.isEmpty else {
    return try printOutput("There are no inputs to list; connect a microphone.\n")
  }
  let heading = ["ID", "NAME", "CHANNELS", "RATE", "PORT", "TYPE"]
  try printOutput(table([heading] + inputs.map { row($0, remembered: remembered) }))
}

/// Returns all inputs, monitors included.
func currentInputs() throws(CommandFailure) -> [Input] {
  do throws(SoundServerError) {
    return try during("asking the sound server") { () throws(SoundServerError) in
      try Inputs.list()
    }
  } catch { throw CommandFailure(error.message) }
}

private func row(_ input: Input, remembered: String?) -> [String] {
  var marks: [String] = []
  if input.isDefault { marks.append("default") }
  if input.name == remembered { marks.append("remembered") }
  if input.isMonitor { marks.append("monitor") }
  let type = [input.formFactor, input.bluetoothProfile, input.bluetoothCodec].compactMap(\.self)
  return [
    input.name + (marks.isEmpty ? "" : " (\(marks.joined(separator: ", ")))"),
    input.description, "\(input.channelCount): \(input.channelMap.joined(separator: ","))",
    "\(input.sampleRate)", input.activePort?.description ?? "-",
    type.isEmpty ? "-" : type.joined(separator: " "),
  ].map(\.withoutControls)
}

func inputsChooseCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let id = command[Arguments.chosenInputID]
  guard id != "none" else {
    try InputStore().remember(nil)
    return try printOutput("No input is remembered.\n")
  }
  let input = try namedInput(id, among: try currentInputs())
  if let reason = InputStore.refusal(of: input) { throw CommandFailure(reason) }
  try InputStore().remember(input.name)
  try printOutput("\(input.name) is remembered for recordings.\n".withoutControlsInLine)
}

/// Returns the input with this ID. Throws an error if there is none.
func namedInput(_ id: String, among inputs: [Input]) throws(CommandFailure) -> Input {
  if let input = inputs.first(where: { $0.name == id }) { return input }
  let names = inputs.map(\.name)
  throw CommandFailure(
    SoundServerError.unknownSource(name: id, available: names).message.withoutControls)
}

extension String {
  /// The line without control characters, except for its line break.
  fileprivate var withoutControlsInLine: String { String(dropLast()).withoutControls + "\n" }
}
