// SPDX-License-Identifier: Apache-2.0

// Owns a virtual sink until the program is ended:
// `pipewire-sink-probe SOCKET NAME CHANNELS SINK [MS] [DELAY]`. The sound of the first two channels
// is played to SINK unchanged, DELAY frames later. MS is the length of a cycle to request; 0 adapts
// it. Prints `ready`, and then every second the state and the number of underruns.

import Ambisonics
import Glibc
import PipeWire
import SoundServer

/// Delays the first two channels.
final class Delay: @unchecked Sendable {
  let channels: Int
  private let line: UnsafeMutablePointer<Float>
  private let length: Int
  private var position = 0

  init(channels: Int, frames: Int) {
    (self.channels, length) = (channels, frames)
    line = .allocate(capacity: max(1, 2 * frames))
    line.initialize(repeating: 0, count: max(1, 2 * frames))
  }

  deinit { line.deallocate() }

  var callback: LiveRenderCallback {
    LiveRenderCallback(owner: self) { context, input, output, frames, _ in
      Unmanaged<Delay>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.render(input, output, frames)
      }
    }
  }

  private func render(
    _ input: UnsafePointer<Float>?, _ output: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    for frame in 0..<frames {
      for ear in 0..<2 {
        let sample = input?[frame * channels + min(ear, channels - 1)] ?? 0
        output[2 * frame + ear] = length > 0 ? line[2 * position + ear] : sample
        if length > 0 { line[2 * position + ear] = sample }
      }
      position = length > 0 ? (position + 1) % length : 0
    }
  }
}

func say(_ message: String) { _ = write(STDOUT_FILENO, message + "\n", message.utf8.count + 1) }

func fail(_ message: String) -> Never {
  say(message)
  exit(1)
}

let words = CommandLine.arguments
let bed: [Speaker] = [
  .frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight, .sideLeft,
  .sideRight,
]
guard words.count >= 5, let channels = Int(words[3]), (1...8).contains(channels) else {
  fail("usage: pipewire-sink-probe SOCKET NAME CHANNELS SINK [MS] [DELAY]")
}
var output = AudioOutputConfiguration()
output.serverAddress = words[1]
output.sinkName = words[4]
let milliseconds = words.count > 5 ? Double(words[5]) ?? 0 : 0
output.latencyMilliseconds = milliseconds > 0 ? milliseconds : nil
var configuration = VirtualSinkConfiguration(
  name: words[2], title: "Stillstage " + words[2], layout: .speakers(Array(bed.prefix(channels))),
  output: output)
configuration.delayFrames = words.count > 6 ? Int(words[6]) ?? 0 : 0
do {
  let delay = Delay(channels: channels, frames: configuration.delayFrames)
  let sink = try PipeWireVirtualSink(configuration, render: delay.callback)
  try sink.start()
  say("ready")
  while true {
    sleep(1)
    let status = sink.status
    say("\(status.state) \(status.underruns) \(status.measuredLatencyMilliseconds ?? -1)")
    for event in sink.takeEvents() { say("\(event.kind)") }
  }
} catch {
  fail("\(error)")
}
