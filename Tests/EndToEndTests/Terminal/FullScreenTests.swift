// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Laboratory

extension EndToEndTests {
  /// The full-screen view of `play` on a terminal.
  @Suite(.serialized) struct FullScreenTests {
    private typealias Key = Listener.Key

    @Test func theFullScreenViewOpensAndCloses() throws {
      let folder = TemporaryFolder()
      let path = try Listener.longFile(folder)
      try PrivatePulseServer.withServer { server in
        let listener = try Listener(playing: path, on: server.address, columns: 100)
        try listener.sees(" underruns", seconds: 60)
        #expect(listener.isFullScreen == false)
        listener.type("f")
        try listener.seesView()
        #expect(listener.isFullScreen == true)
        let text = listener.screen.rows.joined(separator: "\n")
        for part in [
          "Noise - Long", "^ front ^", "FL", "FR", "FC", "SL", "SR", "no tracker", "default HRTF",
          "magls, bus of order 5", "latency", "volume 0 dB", "/ 5:00", "q quit",
        ] { #expect(text.contains(part), "\(part) is missing in\n\(text)") }
        #expect(text.allSatisfy { $0.isASCII })
        listener.type(Key.up)
        try listener.reads("volume +1 dB")
        listener.type(" ")
        try listener.reads("paused")
        listener.type("p")
        try listener.waits(for: "no pause") { _ in !listener.shows("paused") }
        listener.type("?")
        try listener.reads("next mode of the stage")
        listener.type("?")
        try listener.reads("default HRTF")
        listener.type("z")
        try listener.reads("the key z has no function here")
        listener.type("t")
        try listener.reads("the stage turns with the head")
        listener.type("f")
        try listener.waits(for: "the lines") { _ in !listener.isFullScreen }
        // The note waited for the end of the view.
        try listener.reads("note: the key z has no function here")
        try listener.sees("stage fixed to the head")
        listener.type("f")
        try listener.reads("the stage turns with the head")
        listener.type("q")
        #expect(listener.program.wait(seconds: 5) == 0)
        #expect(listener.isFullScreen == false)
      }
    }

    @Test func theFullScreenViewFollowsTheSizeWithoutUnderruns() throws {
      let folder = TemporaryFolder()
      let path = try Listener.longFile(folder)
      let events = folder.file("events.jsonl")
      try PrivatePulseServer.withServer { server in
        let listener = try Listener(
          playing: path, ["--screen", "full", "--events", events], on: server.address,
          environment: ["LC_ALL": "C.UTF-8"])
        try listener.seesView(seconds: 60)
        #expect(listener.screen.rows.contains { $0.contains("▲ front ▲") })
        for columns in [60, 200, 40, 61, 130, 20, 80] {
          listener.resize(to: columns)
          sleepSeconds(0.4)
          #expect(listener.screen.wraps == 0)
        }
        listener.resize(to: 60)
        try listener.reads("c recentre")
        try listener.reads("default HRTF")
        listener.resize(to: 40)
        try listener.reads("enlarge to 60 x 16")
        listener.type("q")
        #expect(listener.program.wait(seconds: 5) == 0)
        let lines = try String(decoding: Data(contentsOf: URL(filePath: events)), as: UTF8.self)
        #expect(!lines.contains("underrun"), "\(lines)")
      }
    }

    @Test(arguments: ["q", Key.interrupt])
    func theFullScreenViewLeavesTheTerminalAsItWas(key: String) throws {
      let folder = TemporaryFolder()
      let path = try Listener.longFile(folder)
      try PrivatePulseServer.withServer { server in
        let listener = try Listener(
          ["bash", "--norc", "--noprofile", "-i"], on: server.address,
          environment: ["PS1": "ready> "])
        try listener.sees("ready>")
        listener.type("\(Product.stillstage) play \(path) --tracker none --screen full\n")
        try listener.seesView(seconds: 60)
        listener.type(Key.suspend)
        try listener.waits(for: "the lines") { _ in !listener.isFullScreen }
        try listener.sees("ready>")
        listener.type("stty -a | grep -c ' icanon'\n")
        sleepSeconds(1)
        listener.type("fg\n")
        try listener.seesView()
        #expect(listener.isFullScreen == true)
        listener.type(Key.up)
        try listener.reads("volume +1 dB")
        listener.type(key)
        try listener.reads("ready>")
        #expect(listener.isFullScreen == false)
        listener.type("stty -a | grep -c ' icanon'; echo ended\n")
        try listener.waits(for: "the shell") { screen in
          screen.rows.filter { $0 == "1" }.count == 2
        }
        listener.type("exit\n")
        #expect(listener.program.wait(seconds: 5) != nil)
      }
    }

    @Test func theFullScreenViewSaysWhyItCannotOpen() throws {
      let folder = TemporaryFolder()
      let path = try Listener.longFile(folder)
      try PrivatePulseServer.withServer { server in
        let listener = try Listener(
          playing: path, ["--screen", "full"], on: server.address,
          environment: ["TERM": "no-such-terminal"])
        try listener.reads("does not support this terminal (TERM=no-such-terminal)", seconds: 60)
        try listener.sees(" underruns")
        kill(listener.program.pid, SIGTERM)
        #expect(listener.program.wait(seconds: 5) == 143)
      }
    }

    /// Resizes a terminal for 2 s while a view fills it. Returns how often the view was redrawn.
    private func resizeOften(_ listener: Listener) -> Int {
      let before = listener.program.bytes.count
      for index in 0..<100 {
        listener.program.resize(columns: 60 + 11 * index % 90, rows: 16 + 7 * index % 30)
        sleepSeconds(0.02)
      }
      // Each new size clears the screen.
      let text = String(decoding: listener.program.bytes[before...], as: UTF8.self)
      return text.ranges(of: "\u{1B}[H\u{1B}[2J").count
    }

    @Test func aHundredSizesCauseNoUnderrunAndAtMostTwentyFramesASecond() throws {
      let folder = TemporaryFolder()
      let path = try Listener.longFile(folder)
      let events = folder.file("events.jsonl")
      try PrivatePulseServer.withServer { server in
        let listener = try Listener(
          playing: path, ["--screen", "full", "--events", events], on: server.address)
        try listener.seesView(seconds: 60)
        let began = monotonicNow()
        let frames = resizeOften(listener)
        let seconds = Double(monotonicNow() - began) * 1e-9
        print("100 sizes in \(seconds) s: \(frames) frames")
        #expect(frames > 10)
        #expect(Double(frames) <= 20 * seconds + 2)
        listener.resize(to: 100)
        try listener.reads("c recentre")
        listener.type("q")
        #expect(listener.program.wait(seconds: 5) == 0)
        let lines = try String(decoding: Data(contentsOf: URL(filePath: events)), as: UTF8.self)
        #expect(lines.contains("connected"))
        #expect(!lines.contains("underrun"), "\(lines)")
      }
    }

    /// On a busy computer, the thread that receives signals may run long after the next frame.
    @Test func ctrlZStopsTheFullScreenViewOnABusyComputer() throws {
      let folder = TemporaryFolder()
      let path = try Listener.longFile(folder)
      let load = try (0..<4).map { _ in
        try RunningProgram(["nice", "-n", "19", "sh", "-c", "while :; do :; done"])
      }
      defer { for program in load { kill(-program.pid, SIGKILL) } }
      try PrivatePulseServer.withServer { server in
        let listener = try Listener(
          ["nice", "-n", "19", "bash", "--norc", "--noprofile", "-i"], on: server.address,
          columns: 100, environment: ["PS1": "ready> "])
        try listener.sees("ready>", seconds: 30)
        listener.type("\(Product.stillstage) play \(path) --tracker none --screen full\n")
        try listener.seesView(seconds: 60)
        for trial in 0..<20 {
          sleepSeconds(0.1 + 0.013 * Double(trial))
          listener.type(Key.suspend)
          try listener.waits(for: "stop \(trial)", seconds: 60) { _ in
            !listener.isFullScreen && listener.lastRow == "ready>"
          }
          listener.resize(to: 100)
          listener.type("fg\n")
          try listener.seesView(seconds: 60)
        }
        listener.type("q")
        try listener.reads("ready>", seconds: 20)
      }
    }
  }
}
