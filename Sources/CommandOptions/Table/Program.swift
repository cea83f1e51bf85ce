// SPDX-License-Identifier: Apache-2.0

/// The program's name, version and commands.
public enum Program {
  public static let name = "stillstage"
  public static let version = "0.1.0"
  public static let summary = "spatial headphone audio that stands still while the head moves"

  /// All commands, in the order of the help list.
  public static let commands: [CommandSpecification] = [
    play, render, fetch, demo, sink, routes, trackers, trackersWatch, trackersCheck, trackersBridge,
    hrtfInfo, hrtfExport, inputs, inputsWatch, inputsChoose, record, listen, mixAnalyse,
    mixBake, mixProcess, fuse, calibrate, benchRender, benchFusion, benchPrediction, benchLatency,
    benchTrackingError, benchSpeakers, benchUpmix, benchMix, benchAdaptation, completion,
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
    Options.language.specification, Options.root.specification, Options.timeout.specification,
  ]

  private static let play = CommandSpecification(
    name: .play, summary: "Play with head tracking.",
    discussion: """
      Plays a file or an HLS presentation. Over headphones, a head tracker turns the stage against \
      the head's motion, so that the stage stands still in the room.
      """,
    arguments: [Arguments.input],
    options: [
      Options.tracker.specification, Options.deviceTracker.specification,
      Options.trackerAxes.specification, Options.trackerPreset.specification,
      Options.takeOver.specification, Options.pauseOnRemoval.specification,
      Options.mode.specification, Options.predict.specification,
      Options.keepFront.specification, Options.soundServer.specification,
      Options.sink.specification,
      Options.route.specification,
      Options.latency.specification, Options.rewrite.specification,
      Options.playLoudness.specification, Options.keep.specification,
      Options.screen.specification, Options.playQuiet.specification,
    ] + shared + Options.mixing)

  private static let render = CommandSpecification(
    name: .render, summary: "Render to a WAV file with the engine of 'play'.",
    discussion: """
      Renders with the engine of 'play' to a 32-bit float WAV file, offline, for a head that keeps \
      still or follows a recorded motion. On the same computer, the same input and options give \
      the same bytes.
      """,
    arguments: [Arguments.input],
    options: [
      Options.renderOutput.specification, Options.renderTarget.specification,
      Options.pose.specification, Options.rate.specification, Options.limiter.specification,
      Options.renderLoudness.specification,
    ] + shared + Options.mixing)

  private static let fetch = CommandSpecification(
    name: .fetch, summary: "Download an HLS presentation to play later.",
    discussion: """
      Downloads an on-demand presentation to a folder, from which it can be played without a \
      server. The folder contains decrypted segments, their playlists and a record of checksums. \
      If a run was interrupted or segments are missing, the same command resumes the download and \
      does not fetch complete segments again. Fails if segments are still missing at the end.
      """,
    arguments: [Arguments.presentation],
    options: [
      Options.fetchOutput.specification, Options.renditions.specification,
      Options.language.specification, Options.maxBitrate.specification,
      Options.preferTreatment.specification, Options.root.specification,
      Options.timeout.specification,
    ])

  private static let demo = CommandSpecification(
    name: .demo, summary: "Play a built-in scene; needs no file and no tracker.",
    discussion: """
      Plays a scene that the program generates. Without a sound server or an output, it renders \
      the scene to demo.wav. When it renders to a file and gnuplot is installed, it also draws a \
      chart of the pose and of the levels at both ears.
      """,
    arguments: [],
    options: [
      Options.demoOutput.specification, Options.screen.specification,
      Options.playQuiet.specification,
      Options.data.specification,
    ])

  private static let routes = CommandSpecification(
    name: .routes, summary: "List the outputs and how each plays multichannel sound.",
    discussion: """
      Lists the sound server's outputs with their ports, and shows how each plays multichannel \
      sound and why.
      """,
    arguments: [], options: [Options.soundServer.specification, Options.json.specification])

  private static let trackers = CommandSpecification(
    name: .trackers, summary: "List the connected trackers.",
    discussion: """
      Lists the connected trackers, including game controllers and the computer's own sensors, and \
      shows whether each can be opened. Bluetooth LE trackers are listed if Bluetooth knows them, \
      even if they are not connected.
      """,
    arguments: [],
    options: [
      Options.scan.specification, Options.json.specification, Options.data.specification,
    ])

  private static let trackersWatch = CommandSpecification(
    name: .trackersWatch, summary: "Show a tracker's live pose.",
    discussion: """
      Shows the pose that a tracker reports. The key c recentres, and q ends the command.
      """,
    arguments: [Arguments.trackerID],
    options: [
      Options.record.specification, Options.raw.specification,
      Options.trackerAxes.specification, Options.trackerPreset.specification,
      Options.takeOver.specification, Options.data.specification,
    ])

  private static let trackersCheck = CommandSpecification(
    name: .trackersCheck, summary: "Check a tracker profile.",
    discussion: """
      Reads a file that describes a simple tracker, and prints one line for each error. The exit \
      code is 1 if there are errors.
      """,
    arguments: [Arguments.trackerProfile], options: [])

  private static let trackersBridge = CommandSpecification(
    name: .trackersBridge, summary: "Send a tracker's pose to other programs over OSC.",
    discussion: """
      Sends the pose of a head tracker, relative to the front, to a program that rotates a \
      soundfield itself. The key c recentres, and q ends the command.
      """,
    arguments: [Arguments.trackerID, Arguments.bridgeTarget],
    options: [
      Options.bridgePreset.specification, Options.bridgeRate.specification,
      Options.trackerAxes.specification, Options.trackerPreset.specification,
      Options.data.specification,
    ])

  private static let hrtfInfo = CommandSpecification(
    name: .hrtfInfo, summary: "Show the content of a SOFA file and whether it can be used.",
    discussion: "Reads a SOFA file and shows its content and whether it can be used.",
    arguments: [Arguments.sofaFile], options: [Options.json.specification])

  private static let hrtfExport = CommandSpecification(
    name: .hrtfExport, summary: "Write a binaural decoder for an HRTF set to a WAV file.",
    discussion: """
      Writes the decoder's filters to a WAV file with 2 (N+1)^2 channels for order N: the left \
      ear's filters in ACN order, then the right ear's. The filters are for SN3D input.
      """,
    arguments: [Arguments.sofaFile],
    options: [
      Options.exportOutput.specification, Options.exportOrder.specification,
      Options.decoder.specification, Options.exportRate.specification,
    ])

  private static let benchRender = CommandSpecification(
    name: .benchRender, summary: "Measure the CPU time of rendering.",
    discussion: """
      Measures the CPU time of rotation and decoding per second of audio, for several orders, \
      block sizes and filter lengths, with a head that turns all the time. Other programs are \
      measured in the same run if 'make bench' has built them.
      """,
    arguments: [],
    options: [
      Options.json.specification, Options.quick.specification, Options.benchOrders.specification,
      Options.benchBlocks.specification, Options.chart.specification,
    ])

  private static let benchFusion = CommandSpecification(
    name: .benchFusion, summary: "Measure the errors of the orientation filter.",
    discussion: """
      Runs the orientation filter over recordings with known true orientation. Reports its errors \
      in inclination and heading, its drift and its time per sample, for each recording and on \
      average. The VQF library is measured in the same run if it is installed.
      """,
    arguments: [Arguments.recordings],
    options: [Options.json.specification, Options.chart.specification])

  private static let benchPrediction = CommandSpecification(
    name: .benchPrediction, summary: "Compare the predicted head motion with the actual motion.",
    discussion: """
      Predicts recorded motions 20, 50, 100, 150 and 200 ms ahead: with the last pose, with the \
      gyroscope's velocity, with the least-squares method of Android, and as 'play' does. Reports \
      the angular errors of each method, for each recording and on average.
      """,
    arguments: [Arguments.motions],
    options: [Options.json.specification, Options.chart.specification])

  private static let benchLatency = CommandSpecification(
    name: .benchLatency,
    summary: "Measure the time from a turn of the head to a turn of the sound.",
    discussion: """
      Plays through a sound server, records its sink and turns a virtual head tracker \
      (apt: umockdev gir1.2-umockdev-1.0 python3-gi). Compares the recording with two \
      renderings to find the time at which the sound follows, as in 3GPP TS 26.260, 4.2.3. Reports \
      the latency, its stages and the renderer's share. '--source' and '--manual' measure real \
      hardware.
      """,
    arguments: [],
    options: [
      Options.json.specification, Options.chart.specification, Options.benchSteps.specification,
      Options.benchQueue.specification, Options.benchServer.specification,
      Options.soundServer.specification,
      Options.benchTrackerRate.specification, Options.appended.specification,
      Options.throughSink.specification,
      Options.injectDelay.specification, Options.compare.specification,
      Options.benchDepths.specification, Options.benchSource.specification,
      Options.manual.specification, Options.tracker.specification,
      Options.trackerAxes.specification, Options.trackerPreset.specification,
      Options.benchSeconds.specification, Options.sink.specification, Options.data.specification,
    ])

  private static let benchTrackingError = CommandSpecification(
    name: .benchTrackingError, summary: "Measure how far the stage lags while the head moves.",
    discussion: """
      Runs the engine with a simulated clock on recorded head motions, or on built-in ones if none \
      are given. Reports the angle between the pose of the head when a sound \
      is heard and the pose for which it was rendered, with and without rewriting, and with and \
      without prediction.
      """,
    arguments: [Arguments.optionalMotions],
    options: [
      Options.json.specification, Options.chart.specification, Options.errorQueue.specification,
      Options.errorPaths.specification, Options.benchTrackerRate.specification,
    ])

  private static let benchSpeakers = CommandSpecification(
    name: .benchSpeakers, summary: "Measure the crosstalk cancellation for loudspeakers.",
    discussion: """
      Measures the separation between the ears and the colouration of the sound, with and without \
      crosstalk cancellation, and the boost that cancellation needs. The measurements are made \
      with the head in its intended position, shifted, and turned, and with two HRTF sets: the \
      default one and that of a rigid sphere.
      """,
    arguments: [],
    options: [
      Options.speakerAngle.specification, Options.json.specification, Options.chart.specification,
    ])

  private static let benchUpmix = CommandSpecification(
    name: .benchUpmix, summary: "Measure the upmix of stereo to 5.1.",
    discussion: """
      Upmixes three mixes of a centre, panned sources and ambience to 5.1. Reports how exact the \
      fold-down is, how well centre and ambience are extracted, and the CPU time. FFmpeg's \
      'surround' filter is measured in the same run if the program ffmpeg is installed. Fails if a \
      result is outside its limits.
      """,
    arguments: [],
    options: [Options.json.specification, Options.chart.specification])

  private static let benchAdaptation = CommandSpecification(
    name: .benchAdaptation, summary: "Compare how players adapt to changing bandwidth.",
    discussion: """
      Simulates live playback over connections of changing bandwidth, with this program's rule for \
      choosing renditions and with the rules of hls.js, ExoPlayer, Shaka Player, dash.js (BOLA) \
      and GStreamer. Reports stalls, changes between multichannel and stereo, the share of \
      multichannel, the time until multichannel is restored, and the time to the first sound. If \
      no trace is given, the exit code shows whether the goals are met.
      """,
    arguments: [Arguments.traces],
    options: [Options.json.specification, Options.chart.specification])

  private static let fuse = CommandSpecification(
    name: .fuse, summary: "Run the orientation filter over a recording.",
    discussion: """
      Reads raw samples from a gyroscope and an accelerometer, and writes the rotation from sensor \
      to earth as t,w,x,y,z, one row per sample. z is up. With '--mag', x is east; without \
      it, the heading starts at 0.
      """,
    arguments: [Arguments.recording],
    options: [Options.fuseOutput.specification, Options.magnetometer.specification])

  private static let calibrate = CommandSpecification(
    name: .calibrate, summary: "Calibrate a head tracker and save the result.",
    discussion: """
      Asks the listener to keep the tracker still, then to look ahead, up and to the left. Saves \
      the result, such as the tracker's axes relative to the head and the gyroscope's bias, in the \
      user's folder, under the tracker's vendor ID, product ID and serial number. Commands that \
      use the tracker apply the result from then on.
      """,
    arguments: [Arguments.calibratedTracker],
    options: [Options.dryRun.specification, Options.json.specification])

  private static let completion = CommandSpecification(
    name: .completion, summary: "Print a completion script for a shell.",
    discussion: "Prints a script that completes commands, options and values in bash, zsh or fish.",
    arguments: [Arguments.shell], options: [])
}
