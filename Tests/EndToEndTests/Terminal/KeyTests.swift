// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Laboratory

extension EndToEndTests {
  /// The keys of `play` on a terminal, and what they show there.
  @Suite(.serialized) struct KeyTests {
    private typealias Key = Listener.Key

    @Test func everyKeyHasAnEffectOrSaysWhyNot() throws {
      let folder = TemporaryFolder()
      let path = try Listener.longFile(folder)
      let events = folder.file("events.jsonl")
      try PrivatePulseServer.withServer { server in
        let listener = try Listener(
          playing: path, ["--events", events], on: server.address)
        try listener.reads("playing: Noise - Long", seconds: 60)
        try listener.reads("layout:  stereo (two channels)")
        try listener.reads(
          "keys:    space pause, c recentre, up/down volume, f full screen, ? keys, q quit")
        try listener.sees("0:01 / 5:00")
        try checkVolume(listener)
        try checkPositions(listener)
        try checkDecoders(listener)
        try checkStage(listener)
        try checkHelp(listener)
        for (key, name) in [
          ("z", "z"), ("n", "n"), ("+", "+"), ("-", "-"), ("\r", "Enter"),
          ("l", "l"), ("\t", "Tab"), ("\u{7F}", "Backspace"), ("\u{1B}[H", "Home"),
          ("\u{1B}[F", "End"), ("\u{1B}[2~", "Insert"), ("\u{1B}[3~", "Delete"),
        ] {
          listener.type(key)
          try listener.reads("the key \(name) has no function here; ? shows the keys")
        }
        try checkScreen(listener)
        listener.type("q")
        #expect(listener.program.wait(seconds: 5) == 0)
        try checkThatEveryKeyOfTheHelpWasPressed(listener)
        #expect(listener.screen.wraps == 0)
        let lines = try String(decoding: Data(contentsOf: URL(filePath: events)), as: UTF8.self)
        #expect(lines.contains(#""db":1,"event":"volume","muted":false"#))
        #expect(lines.contains(#""event":"volume","muted":true"#))
        #expect(!lines.contains("server-frozen"))
      }
    }

    private func checkVolume(_ listener: Listener) throws {
      listener.type(Key.up)
      try listener.sees("volume +1 dB")
      listener.type(Key.down + Key.down)
      try listener.sees("volume -1 dB")
      listener.type("m")
      try listener.sees("volume -1 dB, muted")
      try listener.sees("L -- R -- dB")
      try listener.waits(for: "muted without the volume") { _ in
        listener.lastRow.contains("  muted") && !listener.lastRow.contains("volume")
      }
      listener.type("m")
      try listener.sees("volume -1 dB  ")
      #expect(!listener.lastRow.contains("muted"))
      listener.type(String(repeating: Key.up, count: 22))
      try listener.reads("the volume is at its maximum of +20 dB")
    }

    private func checkPositions(_ listener: Listener) throws {
      func moves(_ key: String, by seconds: Int) throws {
        // A note takes the place of the status line for a moment.
        try listener.waits(for: "a position") { _ in listener.position != nil }
        let before = try #require(listener.position)
        listener.type(key)
        try listener.waits(for: "a position \(seconds) s from \(before)") { _ in
          listener.position.map { abs($0 - before - seconds) < 6 } ?? false
        }
      }
      try moves(Key.pageUp, by: 60)
      try moves(Key.pageDown, by: -60)
      try moves(Key.right, by: 10)
      try moves(Key.left, by: -10)
      listener.type(" ")
      try listener.sees(" paused")
      // A seek past the end does not end playback.
      listener.type(String(repeating: Key.pageUp, count: 6))
      try listener.sees("4:59 / 5:00 paused  seeking stops 1 s before the end")
      listener.type(String(repeating: Key.pageDown, count: 6))
      try listener.sees("0:00 / 5:00 paused")
      listener.type("p")
      try listener.waits(for: "no pause") { _ in !listener.lastRow.contains("paused") }
    }

    private func checkDecoders(_ listener: Listener) throws {
      listener.type("5")
      try listener.reads("the bus is already of order 5")
      listener.type("2")
      try listener.reads("note: decoder: default HRTF, magls, bus of order 2", seconds: 30)
      listener.type("d")
      try listener.reads("note: decoder: default HRTF, ls, bus of order 2", seconds: 30)
      listener.type("h")
      try listener.reads("there is no other HRTF set")
      for order in [1, 3, 4, 6, 7, 5] {
        listener.type("\(order)")
        try listener.reads("note: decoder: default HRTF, ls, bus of order \(order)", seconds: 60)
      }
      for key in ["x", ",", "."] {
        sleepSeconds(3.1)
        let before = listener.screen.rows.filter { $0.contains("only soundfields") }.count
        listener.type(key)
        try listener.waits(for: "a reason for \(key)") {
          $0.rows.filter { $0.contains("only soundfields can be mixed") }.count == before + 1
        }
      }
    }

    private func checkStage(_ listener: Listener) throws {
      listener.type("c")
      try listener.reads("there is nothing to recentre: the head pose does not come from a tracker")
      try listener.sees("no tracker")
      listener.type("t")
      try listener.sees("stage fixed to the head")
      listener.type("t")
      try listener.sees("plain stereo")
      listener.type("t")
      try listener.sees("no tracker")
    }

    private func checkHelp(_ listener: Listener) throws {
      let rows = listener.screen.rows.count
      listener.type("?")
      try listener.reads("Page Down      60 s back")
      try listener.sees(" underruns")
      listener.type("?")
      try listener.waits(for: "no list") { !$0.rows.contains { $0.contains("Page Down") } }
      #expect(abs(listener.screen.rows.count - rows) <= 1)
    }

    private func checkScreen(_ listener: Listener) throws {
      listener.type("f")
      try listener.waits(for: "the view") { _ in listener.isFullScreen }
      listener.type("f")
      try listener.waits(for: "the lines") { _ in !listener.isFullScreen }
      listener.type(Key.escape)
      try listener.reads("the key Escape has no function here")
      listener.type("f")
      try listener.waits(for: "the view") { _ in listener.isFullScreen }
      listener.type(Key.up + Key.down)
      sleepSeconds(0.3)
      #expect(listener.isFullScreen)
      listener.type(Key.escape)
      try listener.waits(for: "the lines") { _ in !listener.isFullScreen }
    }

    /// What each key of `help play` sends.
    private static let bytes: [String: [String]] = [
      "space, p": [" ", "p"], "left, right": [Key.left, Key.right],
      "Page Down": [Key.pageDown], "Page Up": [Key.pageUp], "up, down": [Key.up, Key.down],
      "m": ["m"], "c": ["c"], "t": ["t"], "d": ["d"], "h": ["h"],
      "1 to 7": ["1", "2", "3", "4", "5", "6", "7"], "x": ["x"], ", and .": [",", "."], "f": ["f"],
      "Escape": [Key.escape],
      "?": ["?"], "q": ["q"],
    ]

    private func checkThatEveryKeyOfTheHelpWasPressed(_ listener: Listener) throws {
      let help = try ProgramRun.of(Product.stillstage, ["help", "play"]).output
      let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
      let rows = lines.drop { $0 != "KEYS:" }.dropFirst().prefix { !$0.isEmpty }
      // A continued description begins further right.
      let names = rows.filter { !$0.hasPrefix("   ") }.map { row in
        row.dropFirst(2).prefix(24).split(separator: "  ").first.map(String.init) ?? ""
      }
      #expect(Set(names) == Set(Self.bytes.keys))
      for (name, keys) in Self.bytes {
        #expect(keys.allSatisfy { listener.typed.contains($0) }, "\(name) was not pressed")
      }
    }

    /// On a soundfield with an HRTF set, the keys that have no effect on stereo.
    @Test func theMixAndTheHRTFSetChange() throws {
      let folder = TemporaryFolder()
      let (path, set) = (folder.file("field.wav"), folder.file("mine.sofa"))
      let made = try ProgramRun.of(
        "ffmpeg",
        ["-v", "error", "-f", "lavfi", "-i", "anoisesrc=r=48000:a=0.02:d=60", "-ac", "4", path])
      try #require(made.exitCode == 0, "\(made.errors)")
      try #require(
        try ProgramRun.of("cp", ["/usr/share/libmysofa/default.sofa", set]).exitCode == 0)
      try PrivatePulseServer.withServer { server in
        let listener = try Listener(
          playing: path, ["--layout", "foa", "--hrtf", set], on: server.address, columns: 200)
        try listener.sees(" underruns", seconds: 60)
        listener.type("x")
        try listener.sees("  mix cinematic 50 %  ", seconds: 30)
        listener.type(".")
        try listener.sees("  mix cinematic 60 %  ")
        listener.type(",,")
        try listener.sees("  mix cinematic 40 %  ")
        listener.type("x")
        try listener.sees("  mix studio 40 %  ")
        listener.type("h")
        try listener.reads("note: decoder: default HRTF", seconds: 60)
        listener.type("3")
        try listener.reads("the source is ambisonic and keeps its own order")
        listener.type("q")
        #expect(listener.program.wait(seconds: 5) == 0)
      }
    }

    @Test func aNarrowTerminalShowsTheMostImportantParts() throws {
      let folder = TemporaryFolder()
      let path = try Listener.longFile(folder)
      try PrivatePulseServer.withServer { server in
        let listener = try Listener(playing: path, on: server.address, columns: 120)
        try listener.sees(" underruns", seconds: 60)
        listener.resize(to: 40)
        sleepSeconds(0.5)
        listener.resize(to: 40)
        try listener.sees(" / 5:00  no tracker  0 underruns")
        for key in [Key.up, "t", "t", "t", "m", "m"] {
          listener.type(key)
          sleepSeconds(0.3)
        }
        #expect(listener.screen.wraps == 0)
        listener.resize(to: 16)
        sleepSeconds(0.5)
        listener.resize(to: 16)
        try listener.sees("/ 5:00")
        sleepSeconds(1)
        #expect(listener.screen.wraps == 0)
        listener.type("q")
        #expect(listener.program.wait(seconds: 5) == 0)
      }
    }

    @Test func aShellStopsAndContinuesPlayback() throws {
      let folder = TemporaryFolder()
      let path = try Listener.longFile(folder)
      let events = folder.file("events.jsonl")
      try PrivatePulseServer.withServer { server in
        let listener = try Listener(
          ["bash", "--norc", "--noprofile", "-i"], on: server.address,
          environment: ["PS1": "ready> "])
        try listener.sees("ready>")
        listener.type(
          "stty -g; \(Product.stillstage) play \(path) --tracker none --events \(events)\n")
        try listener.sees("0:02 / 5:00", seconds: 60)
        for _ in 1...2 {
          listener.type(Key.suspend)
          try listener.sees("ready>")
          listener.type("stty -a | grep -c ' icanon'\n")
          sleepSeconds(2.5)
          listener.type("fg\n")
          try listener.sees(" underruns")
          try listener.waits(for: "playing") { _ in !listener.lastRow.contains("paused") }
          listener.type(Key.up)
          try listener.sees("volume +")
          sleepSeconds(1)
        }
        listener.type("q")
        try listener.sees("ready>")
        listener.type("exit\n")
        #expect(listener.program.wait(seconds: 5) == 0)
        let lines = try String(decoding: Data(contentsOf: URL(filePath: events)), as: UTF8.self)
        #expect(!lines.contains("server-frozen"))
        #expect(!lines.contains("underrun"), "\(lines)")
        let rows = listener.screen.rows
        #expect(rows.filter { $0 == "1" }.count == 2, "the shell had its own terminal mode")
        #expect(!rows.contains { $0.contains("not responding") })
      }
    }

    @Test func theStatusLineShowsTheOriginOfTheHead() throws {
      let folder = TemporaryFolder()
      let path = try Listener.longFile(folder)
      let motion = folder.file("head.csv")
      try Array("t,w,x,y,z\n0,0.9659258,0,0,0.258819\n".utf8).withUnsafeBytes {
        try Data($0).write(to: URL(filePath: motion))
      }
      try PrivatePulseServer.withServer { server in
        let recorded = try Listener(playing: path, ["--motion", motion], on: server.address)
        let awaited = try Listener(playing: path, ["--tracker", "osc:19877"], on: server.address)
        try recorded.sees("  yaw 30 pitch 0 roll 0  recorded motion  ", seconds: 60)
        try awaited.sees("  waiting for OSC on 127.0.0.1:19877  ", seconds: 60)
        try awaited.reads("head:    waiting for OSC on 127.0.0.1:19877")
        awaited.type("c")
        try awaited.reads("there is nothing to recentre: no tracker has sent a pose yet")
        for listener in [recorded, awaited] {
          listener.type("q")
          #expect(listener.program.wait(seconds: 5) == 0)
        }
      }
    }

    @Test func keysComeFromTheTerminalIfStandardInputIsAFile() throws {
      let folder = TemporaryFolder()
      let path = try Listener.longFile(folder)
      try PrivatePulseServer.withServer { server in
        let listener = try Listener(
          ["sh", "-c", "\(Product.stillstage) play \(path) --tracker none < /dev/null"],
          on: server.address)
        try listener.sees(" underruns", seconds: 60)
        listener.type("m")
        try listener.sees("muted")
        listener.type("q")
        #expect(listener.program.wait(seconds: 5) == 0)
      }
    }

    @Test func aDumbTerminalGetsAPlainStatusLine() throws {
      let folder = TemporaryFolder()
      let path = try Listener.longFile(folder)
      try PrivatePulseServer.withServer { server in
        let dumb = try Listener(
          playing: path, on: server.address, environment: ["TERM": "dumb"])
        let quiet = try Listener(
          playing: path, ["--quiet"], on: server.address, environment: ["TERM": "dumb"])
        try dumb.reads("stillstage: status: playing: Noise - Long", seconds: 60)
        try dumb.reads("stillstage: status: 0:", seconds: 15)
        #expect(dumb.screen.rows.contains { $0.contains(" / 5:00  no tracker  ") })
        for listener in [dumb, quiet] {
          #expect(!listener.program.bytes.contains(0x1B))
          listener.type("q")
          #expect(listener.program.wait(seconds: 5) == 0)
        }
        #expect(!quiet.screen.rows.contains { $0.contains("stillstage: status") })
      }
    }
  }
}
