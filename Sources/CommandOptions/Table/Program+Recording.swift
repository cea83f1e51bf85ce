// SPDX-License-Identifier: Apache-2.0

/// The command `record` and the commands for inputs.
extension Program {
  static let inputs = CommandSpecification(
    name: .inputs, summary: "List the inputs that can be recorded.",
    discussion: """
      Lists the sound server's inputs with their channels, rates and ports. On a terminal, shows \
      their levels instead: the arrow keys choose an input, Enter remembers it for recordings, and \
      q ends the command.
      """,
    arguments: [], options: [Options.json.specification, Options.monitors.specification])

  static let inputsWatch = CommandSpecification(
    name: .inputsWatch, summary: "Show the levels of inputs.",
    discussion: """
      Shows the peak level of each channel in dBFS, for one input or for all inputs. The levels of \
      monitors are shown only with '--monitors' or if ID names a monitor. Ends when you press q or \
      Ctrl-C, or after the time that '--seconds' sets.
      """,
    arguments: [Arguments.optionalInputID],
    options: [
      Options.watchSeconds.specification, Options.json.specification,
      Options.monitors.specification,
    ])

  static let inputsChoose = CommandSpecification(
    name: .inputsChoose, summary: "Remember an input for recordings.",
    discussion: "Remembers an input for later recordings, or forgets the remembered one.",
    arguments: [Arguments.chosenInputID], options: [])

  static let record = CommandSpecification(
    name: .record, summary: "Record an input to a file, and report any lost sound.",
    discussion: """
      Records an input of the sound server. Lost sound is reported and replaced with silence of \
      the same duration, so that the sound after it keeps its time. Keys: q stops, space pauses \
      and resumes, n changes to the next input, + and - change the gain. The key l starts \
      and ends listening, c recentres, and t selects the next mode. Media keys and headset \
      buttons pause, resume, stop and change to the next input.
      """,
    arguments: [],
    options: [
      Options.recordOutput.specification, Options.input.specification,
      Options.microphoneFormat.specification, Options.microphoneRadius.specification,
      Options.channels.specification, Options.recordGain.specification,
      Options.recordRate.specification, Options.codec.specification,
      Options.stereoPair.specification, Options.recordSeconds.specification,
      Options.onLoss.specification, Options.armed.specification, Options.events.specification,
      Options.chart.specification, Options.overwrite.specification, Options.data.specification,
      Options.listen.specification, Options.listenServer.specification,
      Options.saveMotion.specification,
    ] + Options.listening)
}

extension Arguments {
  public static let optionalInputID = ArgumentSpecification(
    name: "ID", grammar: .text, help: "ID of the input, as 'stillstage inputs' lists it.",
    isOptional: true)
  public static let chosenInputID = ArgumentSpecification(
    name: "ID|none", grammar: .either(["none"], .text),
    help: """
      ID of the input, as 'stillstage inputs' lists it, or 'none' to forget the remembered input.
      """)
}

extension CommandSpecification {
  /// The examples of `record` and of the commands for inputs.
  var recordingExamples: [CommandExample] {
    switch name {
    case .inputs:
      [
        CommandExample("inputs", "On a terminal, choose an input; otherwise, list the inputs."),
        CommandExample("inputs --json", "List the inputs as JSON, for a script."),
      ]
    case .inputsWatch:
      [
        CommandExample("inputs watch", "Show the levels of all inputs except monitors."),
        CommandExample(
          "inputs watch ID --seconds 5 --json", "Write the levels of one input as JSON."),
      ]
    case .inputsChoose:
      [
        CommandExample("inputs choose ID", "Remember the input with this ID for later recordings."),
        CommandExample("inputs choose none", "Forget the remembered input."),
      ]
    default:
      [
        CommandExample("record -o voice.wav", "Record the remembered or the default input."),
        CommandExample(
          "record -o field.mov --mic-format ambix --input ID",
          "Record a first-order microphone."),
        CommandExample(
          "record -o field.mov --mic-format ambix --listen auto",
          "Record a first-order microphone and listen to it."),
        CommandExample(
          "record -o field.wav --channels 3-6 --mic-format a-format",
          "Record a tetrahedral microphone on four channels of an interface."),
      ]
    }
  }
}
