// SPDX-License-Identifier: Apache-2.0

import SoundServer
import Synchronization
import TestSupport
import Testing

@testable import Playback

@Suite struct SystemWideOutputTests {
  private let box = Sink("box", port: .speaker)
  private let ears = Sink("ears", port: .headphones)
  private let widest = SinkLayout.surround71.sinkName

  /// A server with loudspeakers and a running output.
  private func started(
    _ streams: [ProgramStream] = [], _ change: (inout SystemWideOutput.Settings) -> Void = { _ in }
  ) throws -> (world: FakeWorld, output: SystemWideOutput) {
    let world = FakeWorld(ServerContents([box], default: "box", streams))
    let output = world.output(change)
    try output.start()
    #expect(waitUntil(seconds: 5) { output.status.sinks.count == 3 })
    return (world, output)
  }

  @Test func sinksAppearAndTheWidestBecomesTheDefault() throws {
    let (world, output) = try started()
    #expect(waitUntil(seconds: 5) { world.server.contents.defaultSink == widest })
    #expect(waitUntil(seconds: 5) { output.status.isDefault })
    #expect(output.status.sinks.map(\.layout) == [.stereo, .surround51, .surround71])
    #expect(SinkLayout.allCases.compactMap { world.target($0) } == ["box", "box", "box"])
    #expect(world.remembered.withLock { $0 } == ["box"])
    #expect(world.stage.state.withLock { $0.sinks } == ["box"])
    output.stop()
  }

  @Test func streamsAreMovedAndTheirSinksAreInUse() throws {
    let (world, output) = try started()
    world.server.change { $0.streams.append(ProgramStream(1, 2, on: widest)) }
    #expect(waitUntil(seconds: 5) { world.server.stream(1)?.sink == "stillstage-stereo" })
    #expect(waitUntil(seconds: 5) { world.isInUse(.stereo) == true })
    #expect(world.isInUse(.surround51) == false)
    #expect(
      waitUntil(seconds: 5) {
        world.events.withLock { events in
          events.contains { if case .routed(_, .stereo) = $0 { true } else { false } }
        }
      })
    output.stop()
  }

  @Test func pausedStreamsDoNotKeepASinkInUse() throws {
    var stream = ProgramStream(1, 2, on: "stillstage-stereo")
    stream.isCorked = true
    let (world, output) = try started()
    let paused = stream
    world.server.change { $0.streams.append(paused) }
    #expect(waitUntil(seconds: 5) { output.status.streams.count == 1 })
    #expect(world.isInUse(.stereo) == false)
    output.stop()
  }

  @Test func userChoiceOfADefaultMovesTheOutput() throws {
    let (world, output) = try started()
    #expect(waitUntil(seconds: 5) { world.server.contents.defaultSink == widest })
    world.server.change { $0.sinks.append(Sink("usb")) }
    world.server.setDefault("usb")
    #expect(waitUntil(seconds: 5) { world.target(.stereo) == "usb" })
    #expect(waitUntil(seconds: 5) { world.server.contents.defaultSink == widest })
    #expect(waitUntil(seconds: 5) { world.remembered.withLock { $0 } == ["box", "usb"] })
    output.stop()
    #expect(world.server.contents.defaultSink == "usb")
  }

  @Test func headphonesThatAreConnectedGetTheSound() throws {
    let (world, output) = try started()
    world.server.change { $0.sinks.append(ears) }
    #expect(waitUntil(seconds: 5) { world.target(.surround71) == "ears" })
    #expect(world.stage.state.withLock { $0.sinks } == ["box", "ears"])
    world.server.change { $0.sinks.removeAll { $0.name == "ears" } }
    #expect(waitUntil(seconds: 5) { world.target(.surround71) == "box" })
    output.stop()
  }

  @Test func stopRestoresEverything() throws {
    let (world, output) = try started()
    world.server.change { $0.streams.append(ProgramStream(1, 6, on: widest)) }
    #expect(waitUntil(seconds: 5) { world.server.stream(1)?.sink == "stillstage-5.1" })
    output.stop()
    #expect(world.server.contents.defaultSink == "box")
    #expect(world.server.stream(1)?.sink == "box")
    #expect(world.server.contents.sinks.map(\.name) == ["box"])
    #expect(world.server.forgotten == ["stillstage-"])
    #expect(world.remembered.withLock { $0 } == ["box", nil])
    #expect(world.server.state.withLock { $0.isStopped })
    output.stop()
  }

  @Test func stopDoesNotWaitForAServerThatIgnoresRequests() throws {
    let (world, output) = try started([ProgramStream(1, 2, on: "box")])
    world.server.change { $0.streams[0].sink = SinkLayout.stereo.sinkName }
    world.server.state.withLock { $0.ignoresRequests = true }
    let clock = ContinuousClock()
    #expect(clock.measure { output.stop() } < .seconds(2))
  }

  @Test func defaultOffLeavesTheDefaultAlone() throws {
    let (world, output) = try started { $0.takesDefault = false }
    world.server.change { $0.sinks.append(Sink("usb")) }
    world.server.setDefault("usb")
    #expect(waitUntil(seconds: 5) { world.target(.stereo) == "usb" })
    output.stop()
    #expect(world.server.defaults.isEmpty && world.server.contents.defaultSink == "usb")
  }

  @Test func contestedDefaultIsRequestedFiveTimes() throws {
    var loop = try loop { $0.ignoresRequests = true }
    for time in 0..<200 { loop.loop.step(nil, now: Int64(time) * 100_000_000) }
    #expect(loop.world.server.defaults.count == 5)
    let events = loop.world.events.withLock { $0 }
    #expect(events.count { $0 == .defaultContested } == 1)
  }

  @Test func sinkThatFailsIsReportedOnceAndTriedAgain() throws {
    var loop = try loop { $0.refusesSinks = true }
    for time in 0..<100 { loop.loop.step(nil, now: Int64(time) * 100_000_000) }
    let failures = loop.world.events.withLock { events in
      events.count { if case .failed = $0 { true } else { false } }
    }
    #expect(failures == 3)
    loop.world.server.state.withLock { $0.refusesSinks = false }
    loop.loop.step(nil, now: 20_000_000_000)
    #expect(loop.loop.status.sinks.count == 3)
  }

  @Test func withoutARealSinkItWaits() {
    let world = FakeWorld(ServerContents([Sink("stillstage-old")], default: nil))
    var loop = SystemWideLoop(world.parts, .init(), FakeSteward(world.server)) { event in
      world.events.withLock { $0.append(event) }
    }
    loop.step(world.server.contents, now: 0)
    loop.step(nil, now: 1)
    #expect(world.events.withLock { $0 } == [.noOutput])
    #expect(loop.status.sinks.isEmpty && loop.status.output == nil)
  }

  @Test func twoHundredStreamsComeAndGo() {
    let world = FakeWorld(ServerContents([box], default: "box"))
    let server = world.server
    var loop = SystemWideLoop(world.parts, .init(), FakeSteward(server)) { _ in }
    var now: Int64 = 0
    func step() {
      loop.step(server.contents, now: now)
      now += 10_000_000
    }
    for _ in 0..<4 { step() }
    for id in UInt64(1)...200 {
      server.change { contents in
        contents.streams.append(ProgramStream(id, Int(id % 8) + 1, on: widest))
        if contents.streams.count > 7 { contents.streams.removeFirst() }
      }
      step()
      step()
      #expect(
        server.stream(id)?.sink
          == SinkLayout.for(
            ProgramStream(id, Int(id % 8) + 1, on: nil),
            among: [.stereo, .surround51, .surround71])?.sinkName)
    }
    #expect(server.moves.count <= 200)
  }

  /// A loop on a server whose behaviour is changed.
  private func loop(
    _ change: (inout FakeServer.State) -> Void
  ) throws -> (world: FakeWorld, loop: SystemWideLoop) {
    let world = FakeWorld(ServerContents([box], default: "box"))
    world.server.state.withLock { change(&$0) }
    var loop = SystemWideLoop(world.parts, .init(), FakeSteward(world.server)) { event in
      world.events.withLock { $0.append(event) }
    }
    loop.step(world.server.contents, now: 0)
    loop.step(world.server.contents, now: 1)
    return (world, loop)
  }
}

@Suite struct SystemWideCleanUpTests {
  private func cleaned(
    _ contents: ServerContents, previous: String?
  ) throws -> (server: FakeServer, removals: Int) {
    let server = FakeServer(contents)
    try SystemWideCleanUp(
      removeLeftovers: { server.change { $0.sinks.removeAll { SinkLayout.isOurs($0.name) } } },
      makeSteward: { onChange throws(SoundServerError) in server.steward(onChange) }
    ).run(previousDefault: previous)
    return (server, server.contents.sinks.count)
  }

  @Test func killedInstanceIsUndone() throws {
    let left = ServerContents(
      [Sink("box"), Sink("usb"), Sink("stillstage-7.1")], default: "stillstage-7.1",
      [ProgramStream(1, 8, on: "stillstage-7.1"), ProgramStream(2, 2, on: "box")])
    let (server, _) = try cleaned(left, previous: "usb")
    #expect(server.contents.defaultSink == "usb")
    #expect(server.stream(1)?.sink == "usb" && server.stream(2)?.sink == "box")
    #expect(server.contents.sinks.map(\.name) == ["box", "usb"])
    #expect(server.forgotten == ["stillstage-"])
    #expect(server.state.withLock { $0.isStopped })
  }

  @Test func withoutARecordAnyRealSinkBecomesTheDefault() throws {
    let left = ServerContents([Sink("box"), Sink("stillstage-7.1")], default: "stillstage-7.1")
    #expect(try cleaned(left, previous: nil).server.contents.defaultSink == "box")
    #expect(try cleaned(left, previous: "gone").server.contents.defaultSink == "box")
  }

  @Test func healthyServerIsNotChanged() throws {
    let healthy = ServerContents([Sink("box"), Sink("usb")], default: "usb")
    let (server, _) = try cleaned(healthy, previous: nil)
    #expect(server.defaults.isEmpty && server.moves.isEmpty)
  }
}
