// SPDX-License-Identifier: Apache-2.0

/// The command `listen`.
extension Program {
  static let listen = CommandSpecification(
    name: .listen, summary: "Listen to an input with head tracking.",
    discussion: """
      Plays the sound of an input as it arrives, with the rendering of 'play', for example to set \
      up a microphone. Plays over loudspeakers only with '--listen on', because the microphone \
      may pick up their sound. The command ends if the output disappears, or if it led to \
      headphones and no longer does. Keys: q ends the command, space mutes and unmutes, n changes \
      to the next input, + and - change the gain, c recentres, t selects the next mode.
      """,
    arguments: [],
    options: [
      Options.input.specification, Options.microphoneFormat.specification,
      Options.microphoneRadius.specification, Options.channels.specification,
      Options.recordGain.specification, Options.recordSeconds.specification,
      Options.listenAnyway.specification, Options.soundServer.specification,
      Options.events.specification, Options.data.specification,
    ] + Options.listening)
}

extension CommandSpecification {
  /// The examples of `listen`.
  var listeningExamples: [CommandExample] {
    [
      CommandExample("listen", "Listen to the remembered or the default input over headphones."),
      CommandExample(
        "listen --input ID --mic-format ambix --mix cinematic",
        "Listen to a first-order microphone, with speech moved to the front."),
    ]
  }
}
