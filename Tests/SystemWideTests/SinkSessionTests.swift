// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import SoundServer
import Synchronization
import System
import TestSupport
import Testing

@testable import CommandSupport
@testable import Playback

/// Runs sessions on a server in memory, and the built program against them.
@Suite struct SinkSessionTests {
  /// A session on a thread, in a runtime folder of its own.
  private final class Running: Sendable {
    let base = TemporaryFolder()
    let world: FakeWorld
    let isEnding = Atomic(false)
    let failure = Mutex<String?>(nil)
    private let worker = Worker()

    var folder: RuntimeFolder { RuntimeFolder(path: base.file("stillstage")) }

    init(_ contents: ServerContents, state: SinkState? = nil) throws {
      world = FakeWorld(contents)
      if let state {
        try folder.create()
        SinkState.write(state, in: folder)
      }
      worker.start { [self] in
        let session = SinkSession(in: folder, settings: .init(), isQuiet: true)
        do throws(CommandFailure) {
          try session.run(on: Console(), until: { isEnding.load(ordering: .relaxed) }) {
            world.parts
          }
        } catch { failure.withLock { $0 = error.message ?? "interrupted" } }
      }
    }

    func end() {
      isEnding.store(true, ordering: .relaxed)
      worker.stop()
    }

    /// Runs `stillstage sink` with options in the runtime folder.
    func command(_ options: String...) throws -> ProgramRun {
      try ProgramRun.of(
        "\(ProgramRun.builtProducts)/stillstage", ["sink"] + options,
        environment: ["XDG_RUNTIME_DIR": base.path])
    }

    func status() throws -> SinkRecord? {
      let answer = try ControlClient.ask(.status, in: folder)
      if case .status(let record) = answer { return record }
      return nil
    }
  }

  private func running(state: SinkState? = nil) throws -> Running {
    let running = try Running(
      ServerContents([Sink("box", port: .headphones)], default: "box"), state: state)
    let isReady = waitUntil(seconds: 10) { (try? running.status())?.sinks.count == 3 }
    try #require(isReady, "\(running.failure.withLock { $0 } ?? "not ready")")
    return running
  }

  @Test func statusDescribesTheInstance() throws {
    let running = try running()
    running.world.stage.state.withLock { state in
      state.head.tracker = "Test tracker"
      state.head.pose = YawPitchRoll(yaw: 30, pitch: 10, roll: 0).quaternion
      (state.head.isFresh, state.head.rate) = (true, 100)
    }
    running.world.server.change {
      $0.streams.append(ProgramStream(1, 6, on: "stillstage-7.1"))
    }
    #expect(
      waitUntil(seconds: 5) {
        (try? running.status())?.streams.first?.sink == "stillstage-5.1"
      })
    let record = try #require(try running.status())
    #expect(record.pid == getpid() && record.server == "fake" && record.mode == "tracked")
    #expect(record.output?.sink == "box" && record.output?.device == "headphones")
    #expect(record.isDefault)
    #expect(record.sinks.map(\.layout) == ["stereo", "5.1", "7.1"])
    #expect(record.sinks.map(\.rendererDelayMilliseconds) == [23, 2, 2])
    #expect(abs((record.pose?.yaw ?? 0) - 30) < 1e-6)
    #expect(record.streams.first?.isSpatial == true)
    let run = try running.command("--status")
    #expect(run.exitCode == 0, "\(run.errors)")
    #expect(run.output.contains("Test tracker") && run.output.contains("renderer 23.0 ms"))
    #expect(run.output.contains("program 1 (6 channels): stillstage-5.1"))
    #expect(run.output.contains("(headphones)"))
    var unknown = record
    unknown.output?.device = "unknown"
    #expect(
      SinkText.status(unknown).contains("does not report whether headphones are connected)"))
    let json = try running.command("--status", "--json")
    #expect(json.exitCode == 0 && json.output.hasPrefix("{\n"))
    #expect(json.output.contains(#""sink" : "stillstage-5.1""#))
    running.end()
  }

  @Test func optionsControlTheRunningInstance() throws {
    let running = try running()
    #expect(try running.command("--mode", "fixed").exitCode == 0)
    #expect(running.world.stage.mode == .fixed)
    #expect(try running.command("--recentre", "--mode", "off").exitCode == 0)
    #expect(running.world.stage.mode == .off)
    #expect(running.world.stage.state.withLock { $0.recentres } == 1)
    let line = SinkText.line(try #require(try running.status()))
    #expect(line.hasPrefix("plain stereo") && line.contains("no programs"))
    running.end()
  }

  @Test func secondInstanceNamesTheFirstAndEnds() throws {
    let running = try running()
    for options in [[], ["--clean-up"]] {
      let run = try ProgramRun.of(
        "\(ProgramRun.builtProducts)/stillstage", ["sink"] + options,
        environment: ["XDG_RUNTIME_DIR": running.base.path])
      #expect(run.exitCode == 1)
      #expect(run.errors.contains("already running (pid \(getpid()))"))
      #expect(run.errors.split(separator: "\n").count == 1)
    }
    #expect(try running.status() != nil)
    running.end()
  }

  @Test func instancesInTwoRuntimeFoldersAreIndependent() throws {
    let (first, second) = (try running(), try running())
    #expect(try first.command("--mode", "off").exitCode == 0)
    #expect(first.world.stage.mode == .off && second.world.stage.mode == .tracked)
    first.end()
    #expect(try second.status() != nil)
    second.end()
  }

  @Test func endRemovesAllFilesAndRestoresTheDefault() throws {
    let running = try running()
    let remembers = waitUntil(seconds: 5) { SinkState.read(in: running.folder) != nil }
    #expect(remembers)
    #expect(SinkState.read(in: running.folder)?.defaultSink == "box")
    running.end()
    #expect(running.failure.withLock { $0 } == nil)
    #expect(running.world.server.contents.defaultSink == "box")
    #expect(running.world.stage.state.withLock { $0.isStopped })
    let left = SystemFile.names(in: running.folder.path)
    #expect(left == [])
  }

  @Test func stateOfAKilledInstanceIsUsed() throws {
    let running = try Running(
      ServerContents(
        [Sink("box"), Sink("usb"), Sink("stillstage-old")], default: "stillstage-old"),
      state: SinkState(pid: 1, defaultSink: "usb"))
    #expect(waitUntil(seconds: 10) { (try? running.status())?.output?.sink == "usb" })
    running.end()
    #expect(running.world.server.contents.defaultSink == "usb")
  }

  @Test func withoutAnInstanceControlFails() throws {
    let base = TemporaryFolder()
    for option in ["--status", "--recentre", "--mode=off"] {
      let run = try ProgramRun.of(
        "\(ProgramRun.builtProducts)/stillstage", ["sink", option],
        environment: ["XDG_RUNTIME_DIR": base.path])
      #expect(run.exitCode == 1)
      #expect(run.errors.contains("no system-wide output is running"))
    }
  }

  @Test func invalidConfigurationDoesNotPreventControl() throws {
    let running = try running()
    let config = TemporaryFolder()
    mkdir(config.file("stillstage"), 0o700)
    try config.write("{", to: "stillstage/config.json")
    for (option, code) in [(["--status"], 0), (["--quiet"], 1)] as [([String], Int32)] {
      let run = try ProgramRun.of(
        "\(ProgramRun.builtProducts)/stillstage", ["sink"] + option,
        environment: ["XDG_RUNTIME_DIR": running.base.path, "XDG_CONFIG_HOME": config.path])
      #expect(run.exitCode == code, "\(run.errors)")
      #expect(run.errors.contains("config.json") == (code == 1))
    }
    running.end()
  }

  @Test(arguments: [
    ["--json"], ["--status", "--layouts", "5.1"], ["--clean-up", "--status"], ["--layouts", "5.2"],
    ["--roles", "phone=loud"], ["--sink", "stillstage-5.1"], ["--mode", "loud"], ["INPUT"],
  ])
  func wrongUsageIsReported(options: [String]) throws {
    let base = TemporaryFolder()
    let run = try ProgramRun.of(
      "\(ProgramRun.builtProducts)/stillstage", ["sink"] + options,
      environment: ["XDG_RUNTIME_DIR": base.path])
    #expect(run.exitCode == 2, "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1)
  }
}
