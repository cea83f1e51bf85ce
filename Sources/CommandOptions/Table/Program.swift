// SPDX-License-Identifier: Apache-2.0

/// The command table that parsing, help, manual page and completion share.
public enum Program {
  public static let name = "stillstage"
  public static let version = "0.1.0"
  public static let summary = "spatial audio for headphones that stands still while the head moves"

  /// All commands, in the order of the help list.
  public static let commands: [CommandSpecification] = [
    play, render, fetch, demo, routes, trackers, trackersWatch, trackersBridge, hrtfInfo,
    hrtfExport, fuse, calibrate, benchRender, benchFusion, benchPrediction, benchLatency,
    benchTrackingError, benchSpeakers, benchUpmix, benchAdaptation, completion,
  ]

  private static let shared: [OptionSpecification] = [
    Options.hrtf.specification, Options.hrtfEqualization.specification,
    Options.layout.specification, Options.track.specification, Options.order.specification,
    Options.decoder.specification, Options.spatialize.specification, Options.upmix.specification,
    Options.gain.specification, Options.dynamicRange.specification,
    Options.block.specification, Options.motion.specification, Options.events.specification,
    Options.data.specification,
    Options.headphones.specification, Options.headCircumference.specification,
    Options.speakers.specification, Options.speakerAngle.specification,
    Options.maxBitrate.specification, Options.preferTreatment.specification,
    Options.language.specification, Options.root.specification,
  ]

  private static let play = CommandSpecification(
    name: .play, summary: "Play with head tracking.",
    discussion: """
      Plays over headphones while the head tracker turns the stage against the head's motion, so \
      that it stands still in the room.
      """,
    arguments: [Arguments.input],
    options: [
      Options.tracker.specification, Options.deviceTracker.specification,
      Options.trackerAxes.specification, Options.trackerPreset.specification,
      Options.mode.specification, Options.predict.specification,
      Options.keepFront.specification, Options.sink.specification, Options.route.specification,
      Options.latency.specification, Options.rewrite.specification,
      Options.playLoudness.specification, Options.keep.specification,
    ] + shared)

  private static let render = CommandSpecification(
    name: .render, summary: "Render to a WAV with the same engine.",
    discussion: """
      Writes what 'play' would play, as 32-bit float WAV: the same engine, offline, for a head \
      that is still or moves as recorded. The same input gives the same bytes.
      """,
    arguments: [Arguments.input],
    options: [
      Options.renderOutput.specification, Options.renderTarget.specification,
      Options.pose.specification, Options.rate.specification, Options.limiter.specification,
      Options.renderLoudness.specification,
    ] + shared)

  private static let fetch = CommandSpecification(
    name: .fetch, summary: "Download an HLS presentation, to be played later.",
    discussion: """
      Fetches a presentation on demand into a folder that plays without a server: decrypted \
      segments, their playlists, and a record of check sums. A run that was ended, or had segments \
      missing, is gone on with by the same command; what is there and whole is not fetched again. \
      Fails where something is missing in the end.
      """,
    arguments: [Arguments.presentation],
    options: [
      Options.fetchOutput.specification, Options.renditions.specification,
      Options.language.specification, Options.maxBitrate.specification,
      Options.preferTreatment.specification, Options.root.specification,
    ])

  private static let demo = CommandSpecification(
    name: .demo, summary: "Play a built-in scene; needs no file and no tracker.",
    discussion: """
      Plays a scene that is made on the spot. Without a sound server it is rendered to demo.wav, \
      with a picture of the pose and of both ears' levels beside it.
      """,
    arguments: [], options: [Options.demoOutput.specification, Options.data.specification])

  private static let routes = CommandSpecification(
    name: .routes, summary: "List the outputs and what each gets.",
    discussion: """
      Lists the sound server's outputs with their ports, what each is taken for, and whether a \
      multichannel programme is made spatial there, and why.
      """,
    arguments: [], options: [Options.json.specification])

  private static let trackers = CommandSpecification(
    name: .trackers, summary: "List the head trackers.",
    discussion: "Lists the head trackers that are connected and whether each can be opened.",
    arguments: [], options: [Options.json.specification, Options.data.specification])

  private static let trackersWatch = CommandSpecification(
    name: .trackersWatch, summary: "Show a tracker's live pose.",
    discussion: "Shows the pose that a head tracker reports until it is interrupted.",
    arguments: [Arguments.trackerID],
    options: [
      Options.record.specification, Options.trackerAxes.specification,
      Options.trackerPreset.specification, Options.data.specification,
    ])

  private static let trackersBridge = CommandSpecification(
    name: .trackersBridge, summary: "Send a tracker's pose to other programs by OSC.",
    discussion: """
      Sends the pose that Stillstage makes of a head tracker, relative to the front, to a program \
      that turns a sound field itself, until it is interrupted. Key c recentres.
      """,
    arguments: [Arguments.trackerID, Arguments.bridgeTarget],
    options: [
      Options.bridgePreset.specification, Options.bridgeRate.specification,
      Options.trackerAxes.specification, Options.trackerPreset.specification,
      Options.data.specification,
    ])

  private static let hrtfInfo = CommandSpecification(
    name: .hrtfInfo, summary: "Say what a SOFA file holds and whether it is usable.",
    discussion: "Reads a SOFA file and says what it holds and whether it can be used.",
    arguments: [Arguments.sofaFile], options: [Options.json.specification])

  private static let hrtfExport = CommandSpecification(
    name: .hrtfExport, summary: "Write the binaural decoder of a SOFA file as a WAV.",
    discussion: """
      Writes the decoder's filters as a WAV of 2 (N+1)^2 channels: the left ear's in ACN order, \
      then the right ear's, for SN3D input.
      """,
    arguments: [Arguments.sofaFile],
    options: [
      Options.exportOutput.specification, Options.exportOrder.specification,
      Options.decoder.specification, Options.exportRate.specification,
    ])

  private static let benchRender = CommandSpecification(
    name: .benchRender, summary: "Measure what rendering costs.",
    discussion: """
      Measures the CPU time that rotation and decoding take for a second of audio, over orders, \
      block sizes and lengths of the filters, the head turning all the time. Programs of rivals \
      are measured in the same run where 'make bench' has built them.
      """,
    arguments: [],
    options: [
      Options.json.specification, Options.quick.specification, Options.benchOrders.specification,
      Options.benchBlocks.specification, Options.chart.specification,
    ])

  private static let benchFusion = CommandSpecification(
    name: .benchFusion, summary: "Measure the orientation filter against the truth.",
    discussion: """
      Runs the orientation filter over recordings whose truth is known, and tells its error in \
      inclination and heading, its drift, and its time for a sample, for each and in the mean. \
      The VQF library is measured in the same run where it is installed.
      """,
    arguments: [Arguments.recordings],
    options: [Options.json.specification, Options.chart.specification])

  private static let benchPrediction = CommandSpecification(
    name: .benchPrediction, summary: "Measure the head's prediction against what came.",
    discussion: """
      Predicts recorded motions 20, 50, 100 and 200 ms ahead: with the last pose, with the \
      gyroscope's velocity, with Android's least squares, and as 'play' does. Tells the angular \
      errors of each, for each recording and in the mean.
      """,
    arguments: [Arguments.motions],
    options: [Options.json.specification, Options.chart.specification])

  private static let benchLatency = CommandSpecification(
    name: .benchLatency, summary: "Measure the time from the head's turn to the sound's.",
    discussion: """
      Turns a virtual head tracker (apt: umockdev gir1.2-umockdev-1.0 python3-gi), plays through a \
      private sound server, and finds in the recording of its sink when the sound has followed, as \
      3GPP TS 26.260, 4.2.3, compares two renderings. Tells the latency, its stages, and the \
      renderer's part. '--source' and '--manual' measure real hardware.
      """,
    arguments: [],
    options: [
      Options.json.specification, Options.chart.specification, Options.benchSteps.specification,
      Options.benchQueue.specification, Options.benchServer.specification,
      Options.benchTrackerRate.specification, Options.appended.specification,
      Options.injectDelay.specification, Options.compare.specification,
      Options.benchDepths.specification, Options.benchSource.specification,
      Options.manual.specification, Options.tracker.specification,
      Options.trackerAxes.specification, Options.trackerPreset.specification,
      Options.benchSeconds.specification, Options.sink.specification, Options.data.specification,
    ])

  private static let benchTrackingError = CommandSpecification(
    name: .benchTrackingError, summary: "Measure how far the stage lags while the head moves.",
    discussion: """
      Moves the engine's head through recorded motions, or where none are given through some that \
      are built in, with a clock of its own, and tells the angle between where the head is when a \
      sound is heard and the pose it was rendered for: with and without rewriting, with and \
      without prediction.
      """,
    arguments: [Arguments.optionalMotions],
    options: [
      Options.json.specification, Options.chart.specification, Options.errorQueue.specification,
      Options.errorPaths.specification, Options.benchTrackerRate.specification,
    ])

  private static let benchSpeakers = CommandSpecification(
    name: .benchSpeakers, summary: "Measure how loudspeakers are kept to one ear each.",
    discussion: """
      Tells how far each loudspeaker's sound is kept from the other ear with '--speakers' and \
      without, what that does to the colour and what it costs in level, for a head in its place, \
      shifted and turned: of the default HRTF set and of a rigid sphere.
      """,
    arguments: [],
    options: [
      Options.speakerAngle.specification, Options.json.specification, Options.chart.specification,
    ])

  private static let benchUpmix = CommandSpecification(
    name: .benchUpmix, summary: "Measure the upmix of stereo to 5.1.",
    discussion: """
      Makes three mixes of a centre, panned sources and ambience, brings them to 5.1 and tells how \
      exact the fold-down is, how cleanly centre and ambience are taken out, and the CPU time. \
      FFmpeg's 'surround' filter is measured in the same run where the program ffmpeg is \
      installed. Fails where a limit is missed.
      """,
    arguments: [],
    options: [Options.json.specification, Options.chart.specification])

  private static let benchAdaptation = CommandSpecification(
    name: .benchAdaptation, summary: "Compare how players follow a line's bandwidth.",
    discussion: """
      Simulates live playing over lines of changing bandwidth with the rule that chooses \
      renditions and with those of hls.js, ExoPlayer, Shaka Player, dash.js (BOLA) and GStreamer. \
      Tells stalls, changes between multichannel and stereo, the share of multichannel, the time \
      until it is restored, and the time to the first sound. Without a trace the exit code tells \
      whether the goals are met.
      """,
    arguments: [Arguments.traces],
    options: [Options.json.specification, Options.chart.specification])

  private static let fuse = CommandSpecification(
    name: .fuse, summary: "Run the orientation filter over a recording.",
    discussion: """
      Reads raw samples of a gyroscope and an accelerometer and writes the orientation from \
      sensor to earth as t,w,x,y,z, a row for each sample. z is up; the heading starts at 0, \
      or with '--mag' x is east.
      """,
    arguments: [Arguments.recording],
    options: [Options.fuseOutput.specification, Options.magnetometer.specification])

  private static let calibrate = CommandSpecification(
    name: .calibrate, summary: "Calibrate a head tracker, and keep the result.",
    discussion: """
      Asks for the tracker to lie still, and for the head to look ahead, up and to the left. What \
      is found (how the tracker's axes lie on the head, the gyroscope's bias and noise, the rate) \
      is kept for the tracker's serial number in the user's folder, and used from then on.
      """,
    arguments: [Arguments.trackerID],
    options: [Options.dryRun.specification, Options.json.specification])

  private static let completion = CommandSpecification(
    name: .completion, summary: "Print a completion script for a shell.",
    discussion: "Prints a script that completes commands and options in bash, zsh or fish.",
    arguments: [Arguments.shell], options: [])
}
