// SPDX-License-Identifier: Apache-2.0

/// The command `sink`.
extension Program {
  static let sink = CommandSpecification(
    name: .sink, summary: "Add head tracking to the sound of all programs.",
    discussion: """
      Offers virtual sinks to all programs, renders what they play, and plays it to the real \
      output. Runs until you press q or Ctrl-C, and then restores the default sink. '--status', \
      '--recentre' and '--mode' apply to the instance that is running. On a terminal, the key c \
      recentres, t selects the next mode, and q quits. To run the command as a service, use: \
      systemctl --user enable --now stillstage-sink.
      """,
    arguments: [],
    options: [
      Options.sinkLayouts.specification, Options.sink.specification,
      Options.takesDefault.specification, Options.sinkRoles.specification,
      Options.sinkStatus.specification, Options.json.specification,
      Options.recentre.specification, Options.sinkMode.specification,
      Options.cleanUp.specification, Options.quiet.specification,
      Options.soundServer.specification, Options.route.specification,
      Options.latency.specification,
      Options.tracker.specification, Options.deviceTracker.specification,
      Options.trackerAxes.specification, Options.trackerPreset.specification,
      Options.takeOver.specification, Options.predict.specification,
      Options.keepFront.specification,
      Options.hrtf.specification, Options.hrtfEqualization.specification,
      Options.order.specification, Options.decoder.specification,
      Options.spatialize.specification, Options.sinkUpmix.specification,
      Options.sinkLimiter.specification,
      Options.gain.specification, Options.headphones.specification,
      Options.headCircumference.specification, Options.speakers.specification,
      Options.speakerAngle.specification, Options.data.specification,
    ])
}

extension CommandSpecification {
  /// The examples of `sink`.
  var sinkExamples: [CommandExample] {
    [
      CommandExample("sink", "Run with a head tracker if one is connected."),
      CommandExample(
        "sink --layouts stereo,5.1,7.1,7.1.4 --sink headset",
        "Offer 7.1.4 as well, and choose the output device."),
      CommandExample("sink --recentre", "Turn the front to the direction that you face."),
      CommandExample("sink --status --json", "Show the state of the running instance as JSON."),
      CommandExample("sink --clean-up", "Undo the changes of a killed instance."),
    ]
  }
}
