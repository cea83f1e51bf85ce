// SPDX-License-Identifier: Apache-2.0
// Shows how to use Stillstage as a library.
//
// usage: playback-example circle OUT.wav | play FILE | routes SECONDS | record OUT.wav SECONDS

import Capture
import Playback

/// Renders noise in front of a head that turns left once in 4 s, so that the noise circles the
/// head.
func circle(to path: String) throws {
  let (rate, block) = (48000, 480)
  var settings = RenderSettings()
  settings.busOrder = 1  // 5 is sharper and costs more
  let renderer = try SampleRenderer(
    layout: .mono, sampleRate: Double(rate), settings: settings)
  let file = try WAVWriter(path: path, layout: .stereo, sampleRate: rate)
  for end in stride(from: block, through: 4 * rate, by: block) {
    let noise = (0..<block).map { _ in Float.random(in: -0.1...0.1) }
    let head = YawPitchRoll(yaw: 360 * Double(end) / Double(4 * rate))
    try file.write(interleaved: renderer.render(noise, headPose: head.quaternion))
  }
  try file.write(interleaved: renderer.renderTail())
  try file.close()
}

/// Plays a file with the first head tracker found.
func play(_ path: String) async throws {
  let player = try Player(path: path)
  try player.start()
  while !player.isFinished {
    for event in player.takeEvents() { print(event) }
    try await Task.sleep(for: .milliseconds(100))
  }
  player.stop()
}

/// Prints which outputs support spatial sound, whether the user permits it, and all changes.
func routes(_ seconds: Int) async throws {
  let monitor = try RouteMonitor(policy: RoutePolicy.ofUser()) { event in
    switch event {
    case .routesChanged(let routes):
      for route in routes { print("\(route.facts.name): \(route.decision.text)") }
    case .spatialOffered(let route): print("spatial sound is available on \(route.facts.name)")
    case .spatialWithdrawn: print("no spatial sound here")
    }
  }
  monitor.declareMultichannelContent(true)
  try await Task.sleep(for: .seconds(seconds))
  monitor.stop()
}

/// Records the first input that is not a monitor, and shows its level in the meantime.
func record(to path: String, _ seconds: Double) async throws {
  guard let input = try Inputs.list().first(where: { !$0.isMonitor }) else {
    return print("there is no input")
  }
  var configuration = RecorderConfiguration(sourceName: input.name)
  configuration.selection = [0]
  configuration.seconds = seconds
  let recorder = Recorder(configuration)
  let delivery = recorder.deliver { block in
    let peak = (0..<block.frames).reduce(0) { max($0, abs(block.samples[$1])) }
    if block.position / 24_000 != (block.position + Int64(block.frames)) / 24_000 { print(peak) }
  }
  try recorder.start { format in
    FileSink(
      try RecordingContainer.open(
        path: path,
        format: RecordingFormat(layout: format.layout, sampleRate: format.sampleRate)))
  }
  while !recorder.isFinished { try await Task.sleep(for: .milliseconds(50)) }
  delivery.stop()
  print("\(recorder.stop().seconds) s of \(input.name)")
}

switch CommandLine.arguments.dropFirst().first {
case "circle": try circle(to: CommandLine.arguments[2])
case "play": try await play(CommandLine.arguments[2])
case "routes": try await routes(Int(CommandLine.arguments[2]) ?? 10)
case "record":
  try await record(to: CommandLine.arguments[2], Double(CommandLine.arguments[3]) ?? 1)
default:
  print(
    "usage: playback-example circle OUT.wav | play FILE | routes SECONDS | record OUT.wav SECONDS")
}
