// SPDX-License-Identifier: Apache-2.0

import Glibc
import Laboratory
import TestSupport
import Testing

extension CaptureServerTests {
  @Suite(.serialized) struct CommandTests {
    @Test func fourChannelsNeedAFormat() throws {
      let place = try CommandPlace()
      defer { place.end() }
      let run = try place.run(["record", "-o", place.folder.file("a.wav")])
      #expect(run.exitCode == 2)
      for word in ["four channels", "ambix", "fuma", "a-format"] {
        #expect(run.errors.contains(word))
      }
      #expect(run.errors.split(separator: "\n").count == 1)
    }

    @Test(arguments: [
      (["-o", "a.flac", "--codec", "float"], "FLAC"),
      (["-o", "a.mp3"], "ending"),
      (["-o", "a.wav", "--mic-radius", "20"], "a-format"),
      (["-o", "a.wav", "--mic-format", "ambx"], "ambix"),
      (["-o", "a.wav", "--mic-format", "a-format:flu,flu,bld,bru"], "tetrahedron"),
      (["-o", "a.wav", "--channels", "3-1"], "channels"),
      (["-o", "a.wav", "--channels", "1,1"], "more than once"),
      (["-o", "a.wav", "--channels", "5"], "no channel 5"),
      (["-o", "a.wav", "--mic-format", "stereo"], "2 channels"),
    ])
    func wrongUsageIsExplained(_ arguments: [String], _ word: String) throws {
      let place = try CommandPlace()
      defer { place.end() }
      let run = try place.run(["record"] + arguments)
      #expect(run.exitCode == 2, "\(run.errors)")
      #expect(run.errors.contains(word), "\(run.errors)")
      #expect(run.output == "")
    }

    @Test func anExistingFileIsKept() throws {
      let place = try CommandPlace()
      defer { place.end() }
      let path = try place.folder.write("old", to: "a.wav")
      let arguments = ["record", "-o", path, "--mic-format", "ambix", "--seconds", "0.5"]
      let refused = try place.run(arguments)
      #expect(refused.exitCode == 1)
      #expect(refused.errors.contains("--overwrite"))
      #expect(try place.run(arguments + ["--overwrite"]).exitCode == 0)
    }

    @Test func aRecordingIsExactAndReported() throws {
      let place = try CommandPlace()
      defer { place.end() }
      let path = place.folder.file("a.wav")
      let run = try place.run([
        "record", "-o", path, "--mic-format", "ambix", "--seconds", "1.5", "--codec", "float",
        "--events", place.folder.file("events.jsonl"),
      ])
      #expect(run.exitCode == 0, "\(run.errors)")
      #expect(run.output.contains("1.500 s, gaps 0 (0.000 s)"))
      #expect(run.output.contains("LUFS"))
      let planes = try FloatWAV(reading: path).channels
      #expect(planes.count == 4 && planes[0].count == 72_000)
      expectEqualChannels(planes)
      #expect(Numbering.breaks(planes[0]).filter { $0 > staleFrames }.isEmpty)
      let log = try SystemFile.contents(place.folder.file("events.jsonl"))
      let events = String(decoding: log, as: UTF8.self)
      #expect(events.contains(#""event":"start""#) && events.contains(#""event":"end""#))
    }

    @Test(arguments: zip([SIGINT, SIGTERM], [Int32(130), 143]))
    func aSignalEndsARecording(_ signal: Int32, _ code: Int32) throws {
      let place = try CommandPlace()
      defer { place.end() }
      let path = place.folder.file("a.wav")
      let program = try place.start([
        "record", "-o", path, "--mic-format", "ambix", "--codec", "float",
      ])
      sleepMilliseconds(1500)
      kill(program.pid, signal)
      #expect(program.wait(seconds: 3) == code)
      #expect(try FloatWAV(reading: path).channels[0].count > 24_000)
    }

    @Test func anInputIsRememberedAndForgotten() throws {
      let place = try CommandPlace { $0.channels = 2 }
      defer { place.end() }
      #expect(try place.run(["inputs", "choose", "absent"]).exitCode == 1)
      #expect(try place.run(["inputs", "choose", "mic"]).exitCode == 0)
      let list = try place.run(["inputs", "--json"])
      #expect(list.output.contains(#""isRemembered" : true"#))
      #expect(try place.run(["inputs"]).output.contains("remembered"))
      try place.server.unload(module: place.microphone.module)
      var form = VirtualMicrophone.Form()
      (form.name, form.channels) = ("other", 1)
      let other = try VirtualMicrophone(place.server, form)
      defer { other.stop() }
      let run = try place.run([
        "record", "-o", place.folder.file("b.wav"), "--seconds", "0.3",
      ])
      #expect(run.exitCode == 0, "\(run.errors)")
      #expect(run.errors.contains("remembered input 'mic' is missing"))
      #expect(try place.run(["inputs", "choose", "none"]).exitCode == 0)
      #expect(try !place.run(["inputs", "--json"]).output.contains(#""isRemembered" : true"#))
    }

    @Test func aRememberedMonitorIsNotRecorded() throws {
      let place = try CommandPlace { $0.channels = 2 }
      defer { place.end() }
      let refused = try place.run(["inputs", "choose", "ears.monitor"])
      #expect(refused.exitCode == 1 && refused.errors.contains("--input"), "\(refused.errors)")
      // As an earlier version, or the user, may have written it.
      let folder = place.folder.file("state/stillstage")
      mkdir(place.folder.file("state"), 0o755)
      mkdir(folder, 0o755)
      try place.folder.write(
        #"{"input": "ears.monitor"}"#, to: "state/stillstage/input.json")
      let events = place.folder.file("events.jsonl")
      let run = try place.run([
        "record", "-o", place.folder.file("a.wav"), "--seconds", "1", "--events", events,
      ])
      #expect(run.exitCode == 0)
      #expect(run.errors.contains("'ears.monitor' is a monitor"), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
      let log = String(decoding: try SystemFile.contents(events), as: UTF8.self)
      #expect(log.contains(#""input":"mic""#))
      #expect(!log.contains("ears.monitor"))
    }

    @Test func thePickerRemembersTheChosenInput() throws {
      let place = try CommandPlace()
      defer { place.end() }
      var form = VirtualMicrophone.Form()
      (form.name, form.channels) = ("second", 2)
      let second = try VirtualMicrophone(place.server, form)
      defer { second.stop() }
      let program = try place.start(["inputs"], hasTerminal: true)
      sleepMilliseconds(800)
      program.type("\u{1B}[B")
      sleepMilliseconds(300)
      program.type("\n")
      #expect(program.wait(seconds: 3) == 0)
      #expect(program.lines.contains { $0.text.contains("second is remembered") })
      #expect(program.lines.contains { $0.text.contains("#") })
      let list = try place.run(["inputs"]).output
      #expect(list.contains("second (remembered)"))
    }

    @Test func keysPauseAndStopARecording() throws {
      let place = try CommandPlace()
      defer { place.end() }
      let path = place.folder.file("a.wav")
      let program = try place.start(
        ["record", "-o", path, "--mic-format", "ambix", "--codec", "float"], hasTerminal: true)
      sleepMilliseconds(1200)
      program.type(" ")
      sleepMilliseconds(1000)
      program.type(" ")
      sleepMilliseconds(800)
      program.type("q")
      #expect(program.wait(seconds: 3) == 0)
      let seconds = Double(try FloatWAV(reading: path).channels[0].count) / 48_000
      #expect(seconds > 1.2 && seconds < 2.6)
      #expect(program.lines.contains { $0.text.contains("gaps 0 (0.000 s)") })
      #expect(program.lines.contains { $0.text.contains("paused") })
    }

    @Test func levelsOfAllInputsAreWatched() throws {
      let place = try CommandPlace { $0.values = { _, channel in channel == 1 ? 0.5 : 0 } }
      defer { place.end() }
      let run = try place.run(["inputs", "watch", "--seconds", "1.5", "--json"])
      #expect(run.exitCode == 0)
      #expect(run.output.split(separator: "\n").count > 6)
      let last = try #require(run.output.split(separator: "\n").last)
      #expect(last.contains(#""id":"mic","peaks":[null,-6.02,null,null]"#), "\(last)")
    }
  }
}
