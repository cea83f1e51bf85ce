// SPDX-License-Identifier: Apache-2.0

/// An example for a command's help and the manual page.
public struct CommandExample: Sendable, Equatable {
  /// The complete command line, for a shell.
  public let line: String
  /// One sentence that says what the line does.
  public let help: String

  init(_ line: String, _ help: String) {
    self.line = "\(Program.name) \(line)"
    self.help = help
  }
}

extension CommandSpecification {
  /// The examples of the command, the most common use first.
  public var examples: [CommandExample] {
    switch name {
    case .play:
      [
        CommandExample("play concert.opus", "Play with a head tracker if one is connected."),
        CommandExample(
          "play film.mka --sink headset --hrtf mine.sofa",
          "Choose the output and the HRTF set."),
        CommandExample(
          "play https://example.com/live.m3u8 --tracker osc:9000",
          "Play an HLS presentation with a head tracker that sends OSC to port 9000."),
      ]
    case .render:
      [
        CommandExample(
          "render field.wav -o out.wav --pose 90,0,0",
          "Render for a head that is turned 90 degrees to the left."),
        CommandExample(
          "render film.mka -o out.wav --motion head.csv --loudness -16",
          "Render for a recorded head motion, at a loudness of -16 LUFS."),
      ]
    case .fetch:
      [
        CommandExample(
          "fetch https://example.com/main.m3u8 -o concert",
          "Download the best renditions to the folder concert."),
        CommandExample(
          "fetch https://example.com/main.m3u8 -o concert --renditions all",
          "Download all audio renditions."),
      ]
    case .demo:
      [
        CommandExample("demo", "Play the built-in scene."),
        CommandExample("demo -o scene.wav", "Render the built-in scene to a WAV file."),
      ]
    case .sink: sinkExamples
    case .routes:
      [
        CommandExample("routes", "List the outputs."),
        CommandExample("routes --json", "List the outputs as JSON, for a script."),
      ]
    case .trackers:
      [
        CommandExample("trackers", "List the trackers."),
        CommandExample(
          "trackers --scan", "Search for new Bluetooth LE trackers, then list all trackers."),
        CommandExample("trackers --json", "List the trackers as JSON, for a script."),
      ]
    case .trackersWatch:
      [
        CommandExample(
          "trackers watch opentrack:4242",
          "Show the pose that OpenTrack sends to port 4242."),
        CommandExample(
          "trackers watch ID --record head.csv",
          "Record the samples of a tracker to a file for '--motion'."),
        CommandExample(
          "trackers watch serial:/dev/ttyACM0:nvsonic",
          "Show the pose of a self-built tracker on a serial port."),
      ]
    case .trackersCheck:
      [
        CommandExample("trackers check mine.json", "Check a profile before you use it."),
        CommandExample(
          "trackers check Calibration/trackers/nvsonic.json",
          "Check a profile that comes with the program."),
      ]
    case .trackersBridge:
      [
        CommandExample(
          "trackers bridge ID osc://localhost:9000",
          "Send the pose of a tracker to a program on this computer."),
        CommandExample(
          "trackers bridge opentrack:4242 osc://localhost:7000 --preset iem",
          "Send the IEM plug-ins the pose that OpenTrack reports."),
      ]
    case .hrtfInfo:
      [
        CommandExample("hrtf info mine.sofa", "Check whether a SOFA file can be used."),
        CommandExample(
          "hrtf info mine.sofa --json",
          "Show the content of a SOFA file as JSON, for a script."),
      ]
    case .hrtfExport:
      [
        CommandExample(
          "hrtf export mine.sofa -o decoder.wav --order 3",
          "Write a decoder of order 3."),
        CommandExample(
          "hrtf export mine.sofa -o decoder.wav --order 5 --rate 44100",
          "Write a decoder of order 5 for sound at 44.1 kHz."),
      ]
    case .inputs, .inputsWatch, .inputsChoose, .record: recordingExamples
    case .listen: listeningExamples
    case .mixAnalyse, .mixBake, .mixProcess, .benchMix: mixExamples
    case .fuse:
      [
        CommandExample(
          "fuse raw.csv -o head.csv",
          "Compute the orientation without the magnetometer."),
        CommandExample(
          "fuse raw.csv -o head.csv --mag",
          "Compute the orientation, with the heading from the magnetometer."),
      ]
    case .calibrate:
      [
        CommandExample(
          "calibrate ID", "Calibrate the tracker that 'stillstage trackers' lists as ID."),
        CommandExample(
          "calibrate ID --dry-run", "Show the result of the calibration, but do not save it."),
      ]
    case .benchRender:
      [
        CommandExample("bench render --quick", "Measure only the most important cases."),
        CommandExample(
          "bench render --orders 3,5 --blocks 128,256 --chart cost.svg",
          "Measure two orders and two block sizes, and draw a chart."),
      ]
    case .benchFusion:
      [
        CommandExample(
          "bench fusion a.csv b.csv",
          "Measure the errors for each of two recordings, and on average."),
        CommandExample(
          "bench fusion a.csv --chart error.svg",
          "Measure the errors, and draw them over time."),
      ]
    case .benchPrediction:
      [
        CommandExample(
          "bench prediction a.csv b.csv",
          "Measure the errors for each of two recordings, and on average."),
        CommandExample("bench prediction a.csv --json", "Write the errors as JSON, for a script."),
      ]
    case .benchLatency:
      [
        CommandExample(
          "bench latency --steps 40", "Measure the latency for 40 turns of a virtual head."),
        CommandExample(
          "bench latency --compare --chart latency.svg",
          "Compare servers and queue depths, and draw a chart."),
        CommandExample(
          "bench latency --manual --tracker ID",
          "Measure the latency with a real tracker that you turn by hand."),
      ]
    case .benchTrackingError:
      [
        CommandExample("bench tracking-error", "Measure the lag for the built-in motions."),
        CommandExample(
          "bench tracking-error head.csv --queue 300",
          "Measure the lag for a recorded motion, with 300 ms of rewritable sound."),
      ]
    case .benchSpeakers:
      [
        CommandExample(
          "bench speakers", "Measure crosstalk cancellation for loudspeakers at 12 degrees."),
        CommandExample(
          "bench speakers --speaker-angle 20 --chart ears.svg",
          "Measure crosstalk cancellation at 20 degrees, and draw a chart."),
      ]
    case .benchUpmix:
      [
        CommandExample(
          "bench upmix",
          "Measure the upmix, and check that the results are within limits."),
        CommandExample("bench upmix --chart upmix.svg", "Measure the upmix, and draw a chart."),
      ]
    case .benchAdaptation:
      [
        CommandExample("bench adaptation", "Compare players over the built-in connections."),
        CommandExample(
          "bench adaptation train.csv --chart train.svg",
          "Compare players over a recorded connection, and draw a chart."),
      ]
    case .completion:
      [
        CommandExample(
          "completion zsh > _stillstage",
          "Write the zsh script to a file, which must be in a folder in fpath."),
        CommandExample(
          "completion fish > stillstage.fish",
          "Write the fish script to a file for fish's completions folder."),
      ]
    }
  }
}
