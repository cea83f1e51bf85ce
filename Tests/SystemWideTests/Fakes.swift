// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Synchronization
import TestSupport

@testable import Playback
@testable import SoundServer

extension Sink {
  /// A sink whose active port has a type; nil for a sink without ports.
  init(_ name: String, port: PortType? = nil, isDefault: Bool = false) {
    self.init()
    self.name = name
    description = "The " + name
    self.isDefault = isDefault
    guard let port else { return }
    var active = Port()
    (active.name, active.type, active.isActive) = (port.rawValue, port, true)
    ports = [active]
    (portType, portDescription) = (port, port.rawValue)
  }
}

extension ServerContents {
  /// Contents with these sinks, of which `defaultSink` is the default.
  init(_ sinks: [Sink], default defaultSink: String?, _ streams: [ProgramStream] = []) {
    self.init()
    self.sinks = sinks
    self.streams = streams
    for index in sinks.indices { self.sinks[index].isDefault = sinks[index].name == defaultSink }
  }
}

extension ProgramStream {
  /// A stream with this many channels on a sink.
  init(_ id: UInt64, _ channels: Int, on sink: String?, role: String? = nil) {
    self.init(
      id: id, sink: sink, layout: nil, channelCount: channels, role: role,
      application: "program \(id)", processID: 100 + Int(id))
  }
}

/// A server in memory, with the steward that observes it.
final class FakeServer: Sendable {
  struct State {
    var contents = ServerContents()
    var onChange: (@Sendable (ServerContents) -> Void)?
    var moves: [StreamRouting.Move] = []
    var defaults: [String] = []
    var forgotten: [String] = []
    var isStopped = false
    /// Whether requests have no effect.
    var ignoresRequests = false
    /// Whether virtual sinks cannot be created.
    var refusesSinks = false
  }

  let state = Mutex(State())

  init(_ contents: ServerContents) { state.withLock { $0.contents = contents } }

  var contents: ServerContents { state.withLock { $0.contents } }
  var moves: [StreamRouting.Move] { state.withLock { $0.moves } }
  var defaults: [String] { state.withLock { $0.defaults } }
  var forgotten: [String] { state.withLock { $0.forgotten } }

  func stream(_ id: UInt64) -> ProgramStream? { contents.streams.first { $0.id == id } }

  /// Changes the contents and reports them.
  func change(_ change: (inout ServerContents) -> Void) {
    let (contents, onChange) = state.withLock { state in
      change(&state.contents)
      return (state.contents, state.onChange)
    }
    onChange?(contents)
  }

  func setDefault(_ name: String) {
    change { contents in
      for index in contents.sinks.indices {
        contents.sinks[index].isDefault = contents.sinks[index].name == name
      }
    }
  }

  func move(_ id: UInt64, to sink: String) {
    change { contents in
      for index in contents.streams.indices where contents.streams[index].id == id {
        contents.streams[index].sink = sink
      }
    }
  }

  func steward(_ onChange: @escaping @Sendable (ServerContents) -> Void) -> FakeSteward {
    state.withLock { $0.onChange = onChange }
    return FakeSteward(self)
  }
}

final class FakeSteward: StreamSteward {
  private let server: FakeServer

  init(_ server: FakeServer) { self.server = server }

  var contents: ServerContents { server.contents }

  func move(stream: UInt64, to sinkName: String) {
    let ignores = server.state.withLock { state in
      state.moves.append(.init(stream: stream, sink: sinkName))
      return state.ignoresRequests
    }
    if !ignores { server.move(stream, to: sinkName) }
  }

  func setDefault(sinkName: String) {
    let ignores = server.state.withLock { state in
      state.defaults.append(sinkName)
      return state.ignoresRequests
    }
    if !ignores { server.setDefault(sinkName) }
  }

  func forget(sinksWithPrefix prefix: String) {
    server.state.withLock { $0.forgotten.append(prefix) }
  }

  func stop() { server.state.withLock { $0.isStopped = true } }
}

final class FakeSink: VirtualSink {
  struct State {
    var target: String
    var isInUse: Bool?
    var isRunning = false
    var delayFrames = 0
  }

  let configuration: VirtualSinkConfiguration
  let state: Mutex<State>
  private let server: FakeServer

  init(_ layout: SinkLayout, _ target: String, _ server: FakeServer) {
    self.server = server
    state = Mutex(State(target: target))
    configuration = VirtualSinkConfiguration(
      name: layout.sinkName, title: layout.title, layout: layout.layout,
      output: AudioOutputConfiguration())
  }

  var status: AudioOutputStatus { AudioOutputStatus() }
  func takeEvents() -> [AudioOutputEvent] { [] }

  func start() throws(SoundServerError) {
    if server.state.withLock({ $0.refusesSinks }) { throw .streamRefused(reason: "no room") }
    state.withLock { $0.isRunning = true }
    let name = configuration.name
    server.change { $0.sinks.append(Sink(name)) }
  }

  func play(to sinkName: String) { state.withLock { $0.target = sinkName } }
  func report(delayFrames: Int) { state.withLock { $0.delayFrames = delayFrames } }
  func setInUse(_ isInUse: Bool) { state.withLock { $0.isInUse = isInUse } }

  func stop() {
    state.withLock { $0.isRunning = false }
    let name = configuration.name
    server.change { $0.sinks.removeAll { $0.name == name } }
  }
}

final class FakeStage: LiveStage {
  struct State {
    var mode = StageMode.tracked
    var head = LiveHead()
    var recentres = 0
    var sinks: [String] = []
    var isStopped = false
  }

  let state = Mutex(State())

  var mode: StageMode {
    get { state.withLock { $0.mode } }
    set { state.withLock { $0.mode = newValue } }
  }
  var head: LiveHead { state.withLock { $0.head } }
  func recentre() { state.withLock { $0.recentres += 1 } }
  func delay(of layout: SinkLayout) -> RendererDelay? {
    RendererDelay(limiter: 1.5, filters: 0.5, upmix: layout == .stereo ? 21 : 0)
  }
  func follow(_ sink: Sink) { state.withLock { $0.sinks.append(sink.name) } }
  func takeNotes() -> [String] { [] }
  func stop() { state.withLock { $0.isStopped = true } }
}

/// Everything that a system-wide output needs, in memory.
final class FakeWorld: Sendable {
  let server: FakeServer
  let stage = FakeStage()
  let sinks = Mutex<[SinkLayout: FakeSink]>([:])
  let events = Mutex<[SystemWideEvent]>([])
  let remembered = Mutex<[String?]>([])

  init(_ contents: ServerContents) { server = FakeServer(contents) }

  var parts: SystemWideParts {
    SystemWideParts(
      serverKind: "fake", stage: stage,
      makeSteward: { [server] onChange throws(SoundServerError) in server.steward(onChange) },
      makeSink: { [self] layout, real throws(SoundServerError) in
        let sink = FakeSink(layout, real.name, server)
        sinks.withLock { $0[layout] = sink }
        return sink
      })
  }

  func output(
    _ change: (inout SystemWideOutput.Settings) -> Void = { _ in }
  ) -> SystemWideOutput {
    var settings = SystemWideOutput.Settings()
    settings.remember = { [self] name in remembered.withLock { $0.append(name) } }
    change(&settings)
    return SystemWideOutput(parts, settings: settings) { [self] event in
      events.withLock { $0.append(event) }
    }
  }

  /// The sink that a virtual sink plays to.
  func target(_ layout: SinkLayout) -> String? {
    sinks.withLock { $0[layout] }?.state.withLock { $0.target }
  }

  func isInUse(_ layout: SinkLayout) -> Bool? {
    sinks.withLock { $0[layout] }?.state.withLock { $0.isInUse }
  }
}
