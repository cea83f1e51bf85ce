// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import PulseAudio
import SoundServer
import Synchronization
import TestSupport
import Testing

@testable import Laboratory

/// Records what a virtual sink receives, and plays its first two channels.
final class SinkRecorder: @unchecked Sendable {
  private struct Content {
    var samples: [Float] = []
    /// The presentation time of the first frame that is not silent [ns].
    var firstTime: Int64?
  }

  let channelCount: Int
  private let content = Mutex(Content())

  init(channelCount: Int) {
    self.channelCount = channelCount
    content.withLock { $0.samples.reserveCapacity(1 << 23) }
  }

  /// The recorded frames, interleaved.
  var samples: [Float] { content.withLock { $0.samples } }
  var frameCount: Int { content.withLock { $0.samples.count } / channelCount }
  var firstTime: Int64? { content.withLock { $0.firstTime } }

  func forget() { content.withLock { ($0.samples, $0.firstTime) = ([], nil) } }

  /// The frames from the first to the last one that is not silent.
  var heard: [Float] {
    let samples = samples
    guard let first = samples.firstIndex(where: { $0 != 0 }),
      let last = samples.lastIndex(where: { $0 != 0 })
    else { return [] }
    let start = first / channelCount * channelCount
    return Array(samples[start..<(last / channelCount + 1) * channelCount])
  }

  var callback: LiveRenderCallback {
    LiveRenderCallback(owner: self) { context, input, output, frameCount, time in
      Unmanaged<SinkRecorder>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.render(input, output, frameCount, time)
      }
    }
  }

  private func render(
    _ input: UnsafePointer<Float>?, _ output: UnsafeMutablePointer<Float>, _ frameCount: Int,
    _ time: Int64
  ) {
    content.withLock { content in
      for index in 0..<frameCount * channelCount {
        let sample = input?[index] ?? 0
        content.samples.append(sample)
        if sample != 0, content.firstTime == nil {
          content.firstTime = time + Int64(index / channelCount) * 1_000_000_000 / 48_000
        }
      }
      for frame in 0..<frameCount {
        output[2 * frame] = input?[frame * channelCount] ?? 0
        output[2 * frame + 1] = input?[frame * channelCount + 1] ?? 0
      }
    }
  }
}

/// A layout with the name of its sink and the server's names of its channels.
struct SinkLayout: CustomTestStringConvertible, Sendable {
  let name: String
  let layout: ChannelLayout
  let map: String

  var testDescription: String { name }
  var sinkName: String { "stillstage-\(name)" }

  static let stereo = SinkLayout(
    name: "stereo", layout: .stereo, map: "front-left,front-right")
  static let surround51 = SinkLayout(
    name: "5.1",
    layout: .speakers([
      .frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
    ]), map: "front-left,front-right,front-center,lfe,rear-left,rear-right")
  static let surround71 = SinkLayout(
    name: "7.1",
    layout: .speakers([
      .frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight, .sideLeft,
      .sideRight,
    ]), map: surround51.map + ",side-left,side-right")
}

/// A playing virtual sink on a private server.
struct PlayingSink {
  let layout: SinkLayout
  let recorder: SinkRecorder
  let sink: PulseVirtualSink
  let folder = TemporaryFolder()

  init(
    _ layout: SinkLayout, on server: PrivatePulseServer, isRemote: Bool? = nil
  ) throws {
    self.layout = layout
    recorder = SinkRecorder(channelCount: layout.layout.channelCount)
    var output = AudioOutputConfiguration()
    output.serverAddress = server.address
    output.sinkName = "ears"
    sink = try PulseVirtualSink(
      VirtualSinkConfiguration(
        name: layout.sinkName, title: "Stillstage \(layout.name)", layout: layout.layout,
        output: output),
      runtimeFolder: folder.path, isRemote: isRemote, render: recorder.callback)
    try sink.start()
  }

  /// Returns `seconds` of noise in some channels, with silence in the others, interleaved. The
  /// first and the last frame are not silent.
  func noise(seconds: Double, silent: Set<Int> = []) -> [Float] {
    var generator = SystemRandomNumberGenerator()
    return (0..<Int(seconds * 48_000) * recorder.channelCount).map {
      silent.contains($0 % recorder.channelCount)
        ? 0 : Float(Int.random(in: 1...8_388_608, using: &generator)) / 16_777_216
    }
  }

  /// Starts a program that plays `samples` to the sink, or to the default sink.
  func play(
    _ samples: [Float], on server: PrivatePulseServer, toDefault: Bool = false,
    options: [String] = []
  ) throws -> RunningProgram {
    let path = try folder.write(
      samples.withUnsafeBytes { Array($0) }, to: "sound\(UInt32.random(in: 0...UInt32.max)).raw")
    return try RunningProgram(
      [
        "pacat", "--playback", "--raw", "--format=float32le", "--rate=48000",
        "--channels=\(recorder.channelCount)", "--channel-map=\(layout.map)",
      ] + (toDefault ? [] : ["--device=\(layout.sinkName)"]) + options + [path],
      environment: ["PULSE_SERVER": server.address])
  }
}
