// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import Laboratory
import PipeWire
import SoundServer
import Synchronization
import TestSupport

/// A render callback that plays the first two channels of a virtual sink and records all of them.
final class LiveBed: @unchecked Sendable {
  let channels: Int
  let calls = Atomic<Int>(0)
  let silentCalls = Atomic<Int>(0)
  /// The number of presentation times that were not later than the one before.
  let decreases = Atomic<Int>(0)
  private let recorded = Atomic<Int>(0)
  private let capacity = 20 * 48_000
  private let memory: UnsafeMutablePointer<Float>
  private var lastTime = Int64.min

  init(channels: Int) {
    self.channels = channels
    memory = .allocate(capacity: capacity * channels)
    memory.initialize(repeating: 0, count: capacity * channels)
  }

  deinit { memory.deallocate() }

  var callback: LiveRenderCallback {
    LiveRenderCallback(owner: self) { context, input, output, frames, time in
      Unmanaged<LiveBed>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.render(input, output, frames, time)
      }
    }
  }

  private func render(
    _ input: UnsafePointer<Float>?, _ output: UnsafeMutablePointer<Float>, _ frames: Int,
    _ time: Int64
  ) {
    calls.add(1, ordering: .relaxed)
    if input == nil { silentCalls.add(1, ordering: .relaxed) }
    if time <= lastTime { decreases.add(1, ordering: .relaxed) }
    lastTime = time
    for frame in 0..<frames {
      for ear in 0..<2 {
        output[2 * frame + ear] = input?[frame * channels + min(ear, channels - 1)] ?? 0
      }
    }
    let start = recorded.load(ordering: .relaxed)
    guard let input, start + frames <= capacity else { return }
    for index in 0..<frames * channels { memory[start * channels + index] = input[index] }
    recorded.store(start + frames, ordering: .releasing)
  }

  /// The number of frames that were not silent.
  var frameCount: Int { recorded.load(ordering: .acquiring) }

  /// Returns the last `frames` frames of a channel.
  func tail(_ channel: Int, frames: Int) -> [Double] {
    let end = frameCount
    return (max(0, end - frames)..<end).map { Double(memory[$0 * channels + channel]) }
  }

  func forget() { recorded.store(0, ordering: .releasing) }

  /// Waits until `frames` frames that are not silent have arrived.
  func waitFor(frames: Int, limit: Int = 5000) -> Bool {
    millisecondsUntil(limit: limit) { frameCount >= frames } != nil
  }
}

/// The layouts of the tests, in the order of WAV files.
func bed(_ channels: Int) -> ChannelLayout {
  let all: [Speaker] = [
    .frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight, .sideLeft,
    .sideRight,
  ]
  return .speakers(Array(all.prefix(channels)))
}

/// A virtual sink on a private server, and what it receives.
struct LiveSink {
  let bed: LiveBed
  let sink: PipeWireVirtualSink
  let name: String

  init(
    _ server: PrivatePipeWireServer, channels: Int = 6, name: String = "stillstage-test",
    real: String = "ears", latency: Double? = 21.4, rate: Int = 48_000
  ) throws {
    self.name = name
    bed = LiveBed(channels: channels)
    var output = configuration(server, latency: latency, rate: rate)
    output.sinkName = real
    sink = try PipeWireVirtualSink(
      VirtualSinkConfiguration(
        name: name, title: "Stillstage test", layout: PipeWireTests.bed(channels),
        output: output),
      render: bed.callback)
    try sink.start()
  }

  func event(limit: Int, _ matches: (AudioOutputEvent.Kind) -> Bool) -> Bool {
    millisecondsUntil(limit: limit) { sink.takeEvents().contains { matches($0.kind) } } != nil
  }
}

/// The programs that play files.
enum Client: String, CaseIterable {
  case pwPlay = "pw-play"
  case pacat
  case mpv

  /// The Debian package that is missing; nil if the program is installed.
  var missingPackage: String? {
    let isInstalled = ["/usr/bin/", "/usr/local/bin/"].contains {
      access($0 + rawValue, X_OK) == 0
    }
    let packages: [Client: String] = [
      .pwPlay: "pipewire-bin", .pacat: "pulseaudio-utils", .mpv: "mpv",
    ]
    return isInstalled ? nil : packages[self]
  }

  /// Starts to play a file of float samples to a sink; nil plays to the default sink.
  func play(
    _ path: String, channels: Int, to sink: String?, on server: PrivatePipeWireServer,
    name: String = "tones"
  ) throws -> RunningProgram {
    let variables = server.environment.merging(["PULSE_SERVER": server.address]) { $1 }
    let short = ["FL", "FR", "FC", "LFE", "RL", "RR", "SL", "SR"].prefix(channels)
    let long = [
      "front-left", "front-right", "front-center", "lfe", "rear-left", "rear-right", "side-left",
      "side-right",
    ].prefix(channels)
    let words: [String]
    switch self {
    case .pwPlay:
      words =
        [rawValue, "--channel-map", short.joined(separator: ",")]
        + (sink.map { ["--target", $0] } ?? []) + [path]
    case .pacat:
      words =
        [
          rawValue, "--format=float32le", "--rate=48000", "--channels=\(channels)",
          "--channel-map=" + long.joined(separator: ","), "--latency-msec=50",
          "--client-name=\(name)",
        ] + (sink.map { ["--device", $0] } ?? []) + [path]
    case .mpv:
      words =
        [rawValue, "--no-config", "--no-video", "--no-terminal", "--ao=pipewire"]
        + (sink.map { ["--audio-device=pipewire/" + $0] } ?? []) + [path]
    }
    return try RunningProgram(words, environment: variables.mapValues { $0 })
  }
}

/// A file of tones: 300 Hz in the first channel, 400 Hz in the second, and so on. Some channels may
/// be silent.
struct ToneFile {
  static let amplitude: Float = 0.25
  private let folder = TemporaryFolder()
  let wave: String
  /// The samples without a header, for pacat.
  let raw: String
  let channels: Int

  static func frequency(_ channel: Int) -> Double { 300 + 100 * Double(channel) }

  init(channels: Int, seconds: Int = 12, silent: Set<Int> = []) throws {
    self.channels = channels
    let planes = (0..<channels).map { channel in
      (0..<48_000 * seconds).map { frame in
        let phase = 2 * Double.pi * Self.frequency(channel) * Double(frame % 48_000) / 48_000
        return silent.contains(channel) ? 0 : Self.amplitude * Float(sin(phase))
      }
    }
    let file = FloatWAV(channels: planes)
    wave = folder.file("tones.wav")
    raw = folder.file("tones.raw")
    try file.write(to: wave)
    try writeFile(Array(file.bytes().dropFirst(44)), to: raw)
  }

  func play(
    _ client: Client, to sink: String?, on server: PrivatePipeWireServer, name: String = "tones"
  ) throws -> RunningProgram {
    try client.play(
      client == .pacat ? raw : wave, channels: channels, to: sink, on: server, name: name)
  }
}
