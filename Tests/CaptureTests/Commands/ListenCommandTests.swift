// SPDX-License-Identifier: Apache-2.0

import Glibc
import Laboratory
import System
import TestSupport
import Testing

extension CaptureServerTests {
  /// Tests listening during a recording, and the changes to the server that a recording makes.
  @Suite(.serialized) struct ListenCommandTests {
    private static let field = ["--mic-format", "ambix", "--codec", "float", "--tracker", "none"]

    @Test func anUnknownOutputIsRefused() throws {
      let place = try CommandPlace()
      defer { place.end() }
      let run = try place.run(
        ["record", "-o", place.folder.file("a.wav"), "--seconds", "1", "--listen", "auto"]
          + Self.field)
      #expect(run.exitCode == 0, "\(run.errors)")
      #expect(run.errors.contains("--listen on"), "\(run.errors)")
      let alone = try place.run(["listen", "--mic-format", "ambix", "--tracker", "none"])
      #expect(alone.exitCode == 1)
      #expect(alone.errors.contains("--listen on"), "\(alone.errors)")
      #expect(alone.errors.split(separator: "\n").count == 1)
    }

    @Test func theRecordingIsExactWhileItIsHeardAndTheHeadphonesDisappear() throws {
      let place = try CommandPlace()
      defer { place.end() }
      let module = try place.plugHeadphones()
      let path = place.folder.file("a.wav")
      let program = try place.start(
        [
          "record", "-o", path, "--listen", "auto", "--events", place.folder.file("events.jsonl"),
          "--save-motion", place.folder.file("head.csv"),
        ] + Self.field)
      #expect(isTrue(within: 20_000) { place.hasEvent(#""state":"on""#) })
      sleepMilliseconds(1000)
      try place.server.unload(module: module)
      // The start of pactl counts as time of the test.
      let begin = monotonicNow()
      #expect(isTrue(within: 2000) { place.hasEvent(#""state":"off""#) })
      let delay = Double(monotonicNow() - begin) * 1e-6
      print("headphones gone: listening has ended after \(delay) ms")
      #expect(delay < 200)
      sleepMilliseconds(800)
      kill(program.pid, SIGTERM)
      #expect(program.wait(seconds: 5) == 143)
      #expect(program.lines.contains { $0.text.contains("gaps 0 (0.000 s)") })
      let planes = try FloatWAV(reading: path).channels
      expectEqualChannels(planes)
      #expect(Numbering.breaks(planes[0]).filter { $0 > staleFrames }.isEmpty)
      let rows = try place.text("head.csv").split(separator: "\n")
      #expect(rows.first == "t,w,x,y,z")
      let times = rows.dropFirst().compactMap { Double($0.prefix { $0 != "," }) }
      #expect(times.count > 60)
      #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
      let seconds = Double(planes[0].count) / 48_000
      #expect(abs((times.last ?? 0) - seconds) < 0.1, "\(times.last ?? 0) of \(seconds) s")
    }

    @Test func theKeyLStartsAndEndsListening() throws {
      let place = try CommandPlace()
      defer { place.end() }
      _ = try place.plugHeadphones()
      let program = try place.start(
        [
          "record", "-o", place.folder.file("a.wav"), "--events",
          place.folder.file("events.jsonl"),
        ] + Self.field, hasTerminal: true)
      sleepMilliseconds(1000)
      #expect(!place.hasEvent(#""event":"listening""#))
      program.type("l")
      #expect(isTrue(within: 15_000) { place.hasEvent(#""state":"on""#) })
      program.type("l")
      #expect(isTrue(within: 3000) { place.hasEvent(#""state":"off""#) })
      program.type("q")
      #expect(program.wait(seconds: 4) == 0)
    }

    @Test func listeningReachesTheHeadphones() throws {
      let place = try CommandPlace { $0.values = { frame, _ in frame % 4800 < 48 ? 0.5 : 0 } }
      defer { place.end() }
      _ = try place.plugHeadphones()
      let program = try place.start([
        "listen", "--mic-format", "ambix", "--tracker", "none", "--events",
        place.folder.file("events.jsonl"),
      ])
      defer { kill(program.pid, SIGKILL) }
      let path = place.folder.file("heard.wav")
      #expect(isTrue(within: 20_000) { place.hasEvent(#""state":"on""#) })
      let run = try place.run([
        "record", "-o", path, "--input", "phones.monitor", "--seconds", "2", "--codec", "float",
      ])
      #expect(run.exitCode == 0, "\(run.errors)")
      let heard = try FloatWAV(reading: path).channels
      #expect(heard.count == 2)
      let loudest = heard[0].map(abs).max() ?? 0
      #expect(loudest > 0.05, "\(loudest)")
      kill(program.pid, SIGTERM)
      #expect(program.wait(seconds: 4) == 143)
    }

    @Test func spaceMutesListening() throws {
      let place = try CommandPlace()
      defer { place.end() }
      _ = try place.plugHeadphones()
      let program = try place.start(
        [
          "listen", "--mic-format", "ambix", "--tracker", "none", "--events",
          place.folder.file("events.jsonl"),
        ], hasTerminal: true)
      defer { kill(program.pid, SIGKILL) }
      #expect(isTrue(within: 20_000) { place.hasEvent(#""state":"on""#) })
      program.type(" ")
      #expect(isTrue(within: 3000) { place.hasEvent(#""state":"off""#) })
      program.type("q")
      #expect(program.wait(seconds: 4) == 0)
    }

    @Test func listenEndsWithItsOutput() throws {
      let place = try CommandPlace()
      defer { place.end() }
      let headphones = try place.plugHeadphones()
      let program = try place.start([
        "listen", "--mic-format", "ambix", "--tracker", "none", "--events",
        place.folder.file("events.jsonl"),
      ])
      defer { kill(program.pid, SIGKILL) }
      #expect(isTrue(within: 20_000) { place.hasEvent(#""state":"on""#) })
      try place.server.unload(module: headphones)
      #expect(program.wait(seconds: 4) == 1)
    }

    @Test func ownMonitorsAreNotHeard() throws {
      let place = try CommandPlace()
      defer { place.end() }
      _ = try place.plugHeadphones()
      let run = try place.run(["listen", "--input", "phones.monitor", "--tracker", "none"])
      #expect(run.exitCode == 1)
      #expect(run.errors.contains("--sink"), "\(run.errors)")
    }

    @Test(arguments: [
      (["--mic-mode", "voice", "--mic-format", "ambix"], "one or two channels"),
      (["--mic-mode", "wide", "--channels", "1"], "leave out '--channels'"),
      (["--mic-mode", "wide", "--mic-format", "ambix"], "leave out '--mic-format'"),
      (["--bluetooth", "best", "--input", "mic"], "leave out '--input'"),
      (["--amount", "1", "--mic-format", "ambix"], "--mix"),
    ])
    func wrongUsageIsExplained(_ arguments: [String], _ word: String) throws {
      let place = try CommandPlace()
      defer { place.end() }
      let run = try place.run(
        ["record", "-o", place.folder.file("a.wav"), "--listen", "auto"] + arguments)
      #expect(run.exitCode == 2, "\(run.errors)")
      #expect(run.errors.contains(word), "\(run.errors)")
    }

    @Test func wideRecordsAllChannels() throws {
      let place = try CommandPlace()
      defer { place.end() }
      let path = place.folder.file("a.wav")
      let run = try place.run([
        "record", "-o", path, "--mic-mode", "wide", "--seconds", "1", "--codec", "float",
      ])
      #expect(run.exitCode == 0, "\(run.errors)")
      expectEqualChannels(try FloatWAV(reading: path).channels)
    }

    @Test func aMissingBluetoothMicrophoneIsReplaced() throws {
      let place = try CommandPlace { $0.channels = 2 }
      defer { place.end() }
      let run = try place.run([
        "record", "-o", place.folder.file("a.wav"), "--bluetooth", "hfp", "--seconds", "0.5",
      ])
      #expect(run.exitCode == 0, "\(run.errors)")
      #expect(run.errors.contains("no connected Bluetooth device"), "\(run.errors)")
    }

    @Test func theInputsTellTheirModes() throws {
      let place = try CommandPlace { $0.channels = 2 }
      defer { place.end() }
      let list = try place.run(["inputs", "--json"]).output
      let compact = list.filter { !$0.isWhitespace }
      #expect(compact.contains(#""micModes":["standard","voice","wide"]"#), "\(list)")
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func theVoiceModeLeavesNothing(_ signal: Int32) throws {
      let place = try CommandPlace {
        ($0.channels, $0.values) = (2, { frame, _ in Float(frame % 100) / 400 })
      }
      defer { place.end() }
      let program = try place.start([
        "record", "-o", place.folder.file("a.wav"), "--mic-mode", "voice",
      ])
      func has(_ kind: String, _ name: String) -> Bool {
        (try? place.server.pactl(["list", "short", kind]).contains(name)) ?? false
      }
      #expect(isTrue(within: 8000) { has("sinks", "stillstage_voice_output") })
      #expect(
        isTrue(within: 3000) {
          (try? place.server.pactl(["get-default-sink"]).contains("stillstage_voice")) ?? false
        })
      sleepMilliseconds(800)
      // Otherwise, the method would change the volume of the microphone.
      #expect(try place.server.pactl(["list", "modules"]).contains("analog_gain_control=0"))
      kill(program.pid, signal)
      _ = program.wait(seconds: 8)
      if signal == SIGKILL {
        #expect(has("modules", "module-echo-cancel"))
        let next = try place.run(["record", "-o", place.folder.file("b.wav"), "--seconds", "0.3"])
        #expect(next.exitCode == 0, "\(next.errors)")
      }
      #expect(!has("modules", "module-echo-cancel"))
      #expect(try place.server.pactl(["get-default-sink"]).hasPrefix("ears"))
      let left = SystemFile.names(in: place.folder.file("state/stillstage")) ?? []
      #expect(left.allSatisfy { !$0.hasPrefix("capture") }, "\(left)")
    }
  }
}
