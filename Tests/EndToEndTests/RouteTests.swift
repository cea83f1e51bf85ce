// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Laboratory

extension EndToEndTests {
  /// Tests routes with a tone on the left only: the right ear is silent in plain stereo, but not in
  /// binaural sound.
  @Suite(.serialized) struct RouteTests {
    private let folder = TemporaryFolder()
    private let tone: String

    init() throws {
      let left = (0..<30 * Scene.sampleRate).map {
        0.2 * Float(sin(2 * Double.pi * 1000 * Double($0 % 48) / 48_000))
      }
      let right = [Float](repeating: 0, count: left.count)
      tone = folder.file("left.wav")
      try FloatWAV(rate: Scene.sampleRate, channels: [left, right]).write(to: tone)
    }

    private func loadSinks(_ server: PrivatePulseServer) throws {
      for form in ["headphone", "speaker"] {
        try server.pactl([
          "load-module", "module-null-sink", "sink_name=\(form)", "rate=48000", "channels=2",
          "channel_map=front-left,front-right", "format=float32le", "norewinds=1",
          "sink_properties=device.form_factor=\(form)",
        ])
      }
      try server.pactl(["set-default-sink", "headphone"])
    }

    private func stream(_ server: PrivatePulseServer) throws -> String {
      let inputs = try server.pactl(["list", "short", "sink-inputs"])
      return String(inputs.prefix { $0.isNumber })
    }

    /// The output of a sink after some time: when sound began, and when it was as expected.
    private struct Change {
      let onset: Int64
      let done: Int64
      /// The largest share further than 500 Hz from the tone in 20 ms, relative to the tone [dB],
      /// and its time.
      let click: (decibels: Double, time: Int64)
    }

    /// Finds the last of the 5 ms windows that is not as expected.
    private func change(
      _ recording: Recording, after start: Int64, toBinaural isBinaural: Bool
    ) throws -> Change {
      let first = max(0, recording.frame(at: start))
      let windows = stride(from: first, to: recording.frames - 240, by: 240)
      func level(_ ear: Int, _ frame: Int) -> Float {
        recording.ears[ear][frame..<frame + 240].reduce(0) { max($0, abs($1)) }
      }
      let heard = windows.filter { level(0, $0) > 0.02 }
      let onset = try #require(heard.first)
      let end = try #require(heard.last)
      let settled = level(1, end)
      #expect(isBinaural ? settled > 0.005 : settled == 0)
      let last = heard.last {
        isBinaural ? abs(level(1, $0) / settled - 1) > 0.01 : level(1, $0) > 1e-6
      }
      let done = recording.time(ofFrame: (last ?? onset) + 240)
      let last20 = recording.frame(at: done) + 4800
      // Skip the onset: the sound on the new sink begins with the move.
      let clicks = stride(from: onset + 480, to: min(last20, recording.frames - 960), by: 240).map {
        (decibels: click(recording, $0), time: recording.time(ofFrame: $0))
      }
      let worst = try #require(clicks.max { $0.decibels < $1.decibels })
      return Change(onset: recording.time(ofFrame: onset), done: done, click: worst)
    }

    private func click(_ recording: Recording, _ start: Int) -> Double {
      let count = 960
      let far = recording.ears.map { ear -> Double in
        let windowed = (0..<count).map { index -> Double in
          let angle = 2 * Double.pi * Double(index) / Double(count)
          let window =
            0.35875 - 0.48829 * cos(angle) + 0.14128 * cos(2 * angle) - 0.01168 * cos(3 * angle)
          return Double(ear[start + index]) * window
        }
        let total = windowed.reduce(0) { $0 + $1 * $1 }
        // At 50 Hz per bin, 1000 Hz is bin 20.
        let near = (10...30).reduce(0.0) { sum, bin in
          let step = 2 * Double.pi * Double(bin) / Double(count)
          var (real, imaginary) = (0.0, 0.0)
          for (index, value) in windowed.enumerated() {
            real += value * cos(step * Double(index))
            imaginary += value * sin(step * Double(index))
          }
          return sum + 2 * (real * real + imaginary * imaginary) / Double(count)
        }
        return max(0, total - near)
      }
      // The energy of the plain tone in this window. The mean square of the window is 0.258.
      let tone = 0.2 * 0.2 / 2 * 0.258 * Double(count)
      return 10 * log10(max(1e-14, far[0] + far[1]) / tone)
    }

    private func report(_ change: Change, after start: Int64, _ label: String) {
      print(
        "\(label): heard after", milliseconds(start, change.onset), "ms, treated after",
        milliseconds(start, change.done), "ms; beside the tone \(change.click.decibels) dB at",
        milliseconds(start, change.click.time), "ms")
    }

    private func expectQuick(_ changes: [(Change, Int64, String)]) {
      for (change, start, _) in changes {
        #expect(milliseconds(start, change.done) < 500)
        #expect(change.click.decibels < -60)
      }
    }

    /// Returns whether the sound was broken, which a busy machine also causes.
    private func isBroken(_ changes: [(Change, Int64, String)], _ performance: Performance) -> Bool
    {
      for (change, start, label) in changes { report(change, after: start, label) }
      return changes.contains { $0.0.click.decibels >= -60 }
        || performance.events.contains { $0.event == "underrun" }
    }

    /// Moves the sound and analyses the output of its new sink.
    private func follow(
      _ server: PrivatePulseServer, to sink: String, _ move: () throws -> Void
    ) throws -> (Change, Int64) {
      let recorder = try SinkRecorder(server.address, sink: sink)
      sleepSeconds(0.5)
      let start = monotonicNow()
      try move()
      sleepSeconds(1.2)
      let recording = recorder.finish()
      return (try change(recording, after: start, toBinaural: sink == "headphone"), start)
    }

    @Test(arguments: [50, 200]) func movedStreamGetsTheTreatmentOfItsNewSink(queue: Int) throws {
      var attempts = 0
      try whileBroken {
        attempts += 1
        let isLast = attempts == 3
        return try PrivatePulseServer.withServer { server in
          try loadSinks(server)
          let performance = try Performance(
            path: tone, on: server.address, ["--tracker", "none", "--latency", "\(queue)"])
          try performance.begin()
          sleepSeconds(1)
          let stream = try stream(server)
          var changes: [(Change, Int64, String)] = []
          for sink in ["speaker", "headphone"] {
            let (change, start) = try follow(server, to: sink) {
              try server.pactl(["move-sink-input", stream, sink])
            }
            changes.append((change, start, "queue \(queue) ms, moved to \(sink)"))
          }
          let routes = performance.events.filter { $0.event == "route" }
          let isBroken = isBroken(changes, performance)
          #expect(performance.end().code == 143)
          if isBroken, !isLast { return true }
          expectQuick(changes)
          #expect(routes.map(\.sink) == ["headphone", "speaker", "headphone"])
          #expect(routes.map(\.treatment) == ["binaural", "plain-stereo", "binaural"])
          #expect(routes.map(\.formFactor) == ["headphone", "speaker", "headphone"])
          #expect(routes.map(\.reason) == ["headphones", "loudspeakers", "headphones"])
          return false
        }
      }
    }

    @Test func newDefaultSinkDeterminesTheTreatment() throws {
      var attempts = 0
      try whileBroken {
        attempts += 1
        let isLast = attempts == 3
        return try PrivatePulseServer.withServer { server in
          try loadSinks(server)
          let performance = try Performance(path: tone, on: server.address, ["--tracker", "none"])
          try performance.begin()
          sleepSeconds(1)
          var changes: [(Change, Int64, String)] = []
          for sink in ["speaker", "headphone"] {
            let (change, start) = try follow(server, to: sink) {
              try server.pactl(["set-default-sink", sink])
            }
            changes.append((change, start, "default changed to \(sink)"))
          }
          let isBroken = isBroken(changes, performance)
          let lines = performance.program.lines.map(\.text)
          #expect(performance.end().code == 143)
          if isBroken, !isLast { return true }
          expectQuick(changes)
          #expect(lines.contains { $0.hasSuffix("plain stereo (loudspeakers)") })
          return false
        }
      }
    }

    /// Returns whether `play` with these arguments is binaural on a sink, and its route event.
    private func treatment(
      _ sink: String, _ arguments: [String], path: String? = nil, config: String? = nil
    ) throws -> (isBinaural: Bool, event: Performance.Event) {
      try PrivatePulseServer.withServer { server in
        try loadSinks(server)
        if let config {
          try #require(mkdir(folder.file("stillstage"), 0o755) == 0 || errno == EEXIST)
          try folder.write(config, to: "stillstage/config.json")
        }
        let recorder = try SinkRecorder(server.address, sink: sink)
        let performance = try Performance(
          path: path ?? tone, on: server.address,
          ["--tracker", "none", "--sink", sink] + arguments,
          environment: config == nil ? [:] : ["XDG_CONFIG_HOME": folder.path])
        let event = try performance.event("route", seconds: 60)
        sleepSeconds(0.7)
        let recording = recorder.finish()
        #expect(performance.end().code == 143)
        let end = recording.frames
        #expect(recording.level(end - 4800..<end) > 0.02)
        return (recording.ears[1].suffix(4800).contains { abs($0) > 1e-4 }, event)
      }
    }

    @Test func routeOptionForcesTheTreatment() throws {
      let speakers = try treatment("headphone", ["--route", "speakers"])
      #expect(!speakers.isBinaural && speakers.event.reason == "forced-loudspeakers")
      let headphones = try treatment("speaker", ["--route", "headphones"])
      #expect(headphones.isBinaural && headphones.event.reason == "forced-headphones")
    }

    /// The sink "ears" has no known properties, so it counts as headphones.
    @Test func anUnknownOutputCountsAsHeadphones() throws {
      let unknown = try treatment("ears", [])
      #expect(unknown.isBinaural && unknown.event.reason == "unknown-device")
    }

    @Test func configuredSinksOverrideTheTreatment() throws {
      let config = #"{"sinks": {"headphone": "off", "speaker": "headphones"}}"#
      let off = try treatment("headphone", [], config: config)
      #expect(!off.isBinaural && off.event.reason == "sink-off")
      let forced = try treatment("speaker", [], config: config)
      #expect(forced.isBinaural && forced.event.reason == "forced-headphones")
    }

    @Test func binauralSoundIsNotSpatializedAgain() throws {
      let marked = folder.file("marked.flac")
      let made = try ProgramRun.of(
        "ffmpeg",
        ["-v", "error", "-i", tone, "-t", "10", "-metadata", "BINAURAL=1", "-y", marked])
      #expect(made.exitCode == 0)
      let heard = try treatment("headphone", [], path: marked)
      #expect(!heard.isBinaural && heard.event.reason == "already-binaural")
      let asStereo = try treatment("headphone", ["--layout", "stereo"], path: marked)
      #expect(asStereo.isBinaural)
      let asBinaural = try treatment("headphone", ["--layout", "binaural"])
      #expect(!asBinaural.isBinaural && asBinaural.event.reason == "already-binaural")
    }

    private struct Route: Decodable {
      let sink: String
      let treatment: String
      let device: String
      let isDefault: Bool
      let isAllowed: Bool
      let canBeSpatial: Bool
    }

    @Test func routesAreListed() throws {
      try PrivatePulseServer.withServer { server in
        try loadSinks(server)
        let environment = ["PULSE_SERVER": server.address, "HOME": folder.path]
        let json = try ProgramRun.of(
          Product.stillstage, ["routes", "--json"], environment: environment)
        let routes = try JSONDecoder().decode([Route].self, from: Data(json.output.utf8))
        #expect(routes.map(\.sink) == ["ears", "headphone", "speaker"])
        #expect(routes.map(\.device) == ["unknown", "headphones", "loudspeakers"])
        #expect(routes.map(\.treatment) == ["binaural", "binaural", "plain-stereo"])
        #expect(routes.map(\.isDefault) == [false, true, false])
        #expect(routes.map(\.canBeSpatial) == [true, true, false])
        #expect(routes.map(\.isAllowed) == [true, true, true])
        let text = try ProgramRun.of(Product.stillstage, ["routes"], environment: environment)
        #expect(text.output.contains("headphone (default)"))
        #expect(text.output.contains("plain stereo (loudspeakers)"))
      }
    }
  }
}
