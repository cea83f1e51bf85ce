// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import PulseAudio
import SoundServer
import System

/// A program with one virtual sink, whose first two channels it plays unchanged.
///
/// usage: pulse-sink-probe LAYOUT SINK [FALLBACK]
///
/// It ends at the end of its standard input. Lines of input: `use`, `idle`, `play SINK`, `status`.
@main
struct SinkProbe {
  static func main() throws {
    let words = CommandLine.arguments
    if words.count > 1, words[1] == "sink-keeper" {
      exit(PulseSinkKeeper.run(arguments: Array(words.dropFirst(2))))
    }
    guard words.count > 2, let layout = layouts[words[1]] else { exit(2) }
    let keeper = try PulseSinkKeeper(command: [words[0], "sink-keeper"], serverAddress: nil)
    keeper.setFallback(sinkName: words.count > 3 ? words[3] : words[2])
    var output = AudioOutputConfiguration()
    output.sinkName = words[2]
    output.latencyMilliseconds = getenv("PROBE_LATENCY").flatMap { Double(String(cString: $0)) }
    let configuration = VirtualSinkConfiguration(
      name: "stillstage-\(words[1])", title: "Stillstage \(words[1])", layout: layout,
      output: output)
    let identity = Identity(channelCount: layout.channelCount)
    let sink = try PulseVirtualSink(configuration, keeper: keeper, render: identity.callback)
    try sink.start()
    print("started keeper \(keeper.processID ?? 0)")
    fflush(nil)
    while let line = readLine() {
      if line == "use" { sink.setInUse(true) }
      if line == "idle" { sink.setInUse(false) }
      if line.hasPrefix("play ") { sink.play(to: String(line.dropFirst(5))) }
      let status = sink.status
      print(
        "\(status.state) latency \(status.measuredLatencyMilliseconds ?? 0)",
        "requested \(status.requestedLatencyMilliseconds) missing \(sink.missingFrames)",
        "underruns \(status.underruns)")
      fflush(nil)
    }
    sink.stop()
    keeper.dismiss()
  }

  private static let layouts: [String: ChannelLayout] = [
    "stereo": .stereo,
    "5.1": .speakers([.frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight]),
    "7.1": .speakers([
      .frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight, .sideLeft,
      .sideRight,
    ]),
  ]
}

/// Plays the first two channels.
private final class Identity: Sendable {
  let channelCount: Int

  init(channelCount: Int) { self.channelCount = channelCount }

  var callback: LiveRenderCallback {
    LiveRenderCallback(owner: self) { context, input, output, frameCount, _ in
      let count = Unmanaged<Identity>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.channelCount
      }
      for frame in 0..<frameCount {
        output[2 * frame] = input?[frame * count] ?? 0
        output[2 * frame + 1] = input?[frame * count + 1] ?? 0
      }
    }
  }
}
