// SPDX-License-Identifier: Apache-2.0

import Charts
import CommandOptions
import CommandSupport
import HeadTracking
import Playback
import Rendering
import ScreenView
import SoundServer
import SoundSources

/// The file to which the scene is rendered if the scene cannot be played.
let demoFile = "demo.wav"

/// Runs `stillstage demo`.
///
/// - Parameter play: called if playback is possible and no output file is given; plays the scene.
func demoCommand(
  _ command: ParsedCommand, play: (ParsedCommand) throws(CommandFailure) -> Void
) throws(CommandFailure) {
  if let path = command[Options.demoOutput] { return try renderDemo(to: path) }
  if let obstacle = during("asking the sound server", obstacleToPlaying) {
    printNote("\(obstacle); the scene is rendered to \(demoFile) instead")
    return try renderDemo(to: demoFile)
  }
  try play(command)
}

/// Plays the built-in scene. Without a usable head tracker, the head pose comes from the built-in
/// motion.
func playDemo(_ command: ParsedCommand) throws(CommandFailure) {
  var options = PlayerOptions()
  options.calibration = userCalibration
  options.trackerSettings = try trackerSettings(command)
  // The automatic choice uses only head trackers, not controllers or the computer's sensors.
  let trackers = TrackerList.current(options.trackerSettings).trackers
  if !trackers.contains(where: { $0.kind == .head && $0.accessError == nil }) {
    options.head = .recorded(DemoScene.head)
    printNote("no usable head tracker is connected; a built-in head motion is used instead")
  }
  var display = PlayDisplay()
  display.isQuiet = command[Options.playQuiet]
  display.isFullScreen = command[Options.screen] == .full
  display.parts = demoParts
  display.head = headText(command, options, nil)
  if case .recorded = options.head { display.head = "a built-in motion" }
  try play(options, events: EventLog(path: nil), display: display) {
    rate, display throws(PlaybackError) in
    let rates = DemoScene.sampleRates
    let scene = DemoScene(sampleRate: max(rates.lowerBound, min(rates.upperBound, rate)))
    display.source = SourceFacts(scene)
    return scene
  }
}

/// Renders the built-in scene with the built-in head motion to a file, and writes a chart to a
/// second file beside it.
func renderDemo(to path: String) throws(CommandFailure) {
  try checkWritable(path)
  let hrtf = try playing { () throws(PlaybackError) in
    try during("reading the HRTF set") { () throws(PlaybackError) in
      try HRTFChoice(path: nil, interrupt: Signals.interrupt)
    }
  }
  for note in hrtf.notes { printNote(note) }
  let offline = try playing { () throws(PlaybackError) in
    try OfflineRenderer(
      source: DemoScene(), head: DemoScene.head, hrtf: hrtf, settings: RenderSettings(),
      isLimited: true)
  }
  var picture = RenderPicture(sampleRate: offline.renderer.sampleRate)
  try renderToFile(offline, path: path) { frames in
    picture.add(offline.output, frames: frames)
  }
  try printOutput("\(path)\n")
  let picturePath = RenderPicture.path(beside: path)
  let chart = picture.chart(title: "The head turns; the stage stands still", head: DemoScene.head)
  do throws(ChartError) {
    try chart.write(to: picturePath)
  } catch { return printNote(error.description) }
  try printOutput("\(picturePath)\n")
}

/// The scene's sounds that have a direction, for the full-screen view.
private let demoParts: [ListeningState.Source] = DemoScenePart.allCases.compactMap { part in
  part.direction.map { direction in
    ListeningState.Source(
      name: "\(part)", azimuth: direction.azimuth, elevation: direction.elevation)
  }
}

/// Returns the reason why sound cannot be played; nil if the sound server has an output device.
private func obstacleToPlaying() -> String? {
  do throws(SoundServerError) {
    return try SinkList.read().isEmpty ? "the sound server has no output device" : nil
  } catch { return error.message }
}
