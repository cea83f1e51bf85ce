// SPDX-License-Identifier: Apache-2.0

import Ambisonics
package import SoundServer
import Synchronization
import System

/// A virtual sink on a PulseAudio server.
///
/// Programs play to a module-pipe-sink. The output's own thread reads its FIFO, exactly as many
/// frames as the real sink asks for, so that the virtual sink runs on the real sink's clock. On a
/// server on another machine, programs play to a module-null-sink, whose monitor is recorded and
/// resampled to the real sink's clock.
package final class PulseVirtualSink: VirtualSink, @unchecked Sendable {
  /// The latency of the output unless the configuration sets one. It adapts from there [ms].
  private static let latency = 30.0
  private static let interval = 100

  private struct State {
    var sinkName: String
    var delayFrames: Int
    var isInUse = true
    var isStopped = false
    var hasStarted = false
    var feed: SinkFeed?
    var output: PulseOutput?
    /// The sink that `output` plays to.
    var outputSink: String?
    var events: [AudioOutputEvent] = []
    var status = AudioOutputStatus()
    var missingFrames = 0
  }

  package let configuration: VirtualSinkConfiguration
  private let render: LiveRenderCallback
  private let source: any SinkSource
  /// The same source if it is a monitor, otherwise nil.
  private let monitor: MonitorSource?
  private let module: Mutex<SinkModule>
  private let keeper: PulseSinkKeeper?
  private let state: Mutex<State>
  private let worker = Worker()

  /// Prepares a virtual sink. Nothing is sent to a server yet.
  ///
  /// - Parameters:
  ///   - keeper: the child process that removes the sink if this process dies; nil for none.
  ///   - runtimeFolder: the folder that holds the folder of the FIFO; nil for `XDG_RUNTIME_DIR`.
  ///   - isRemote: whether the server is on another machine; nil to judge by its address.
  /// - Throws: `unsupportedSampleRate`, or `systemFailure` if the FIFO cannot be created or the
  ///   layout has channels that PulseAudio does not know.
  package init(
    _ configuration: VirtualSinkConfiguration, keeper: PulseSinkKeeper? = nil,
    runtimeFolder: String? = nil, isRemote: Bool? = nil, render: LiveRenderCallback
  ) throws(SoundServerError) {
    guard (1...384_000).contains(configuration.output.sampleRate) else {
      throw .unsupportedSampleRate(configuration.output.sampleRate)
    }
    guard configuration.layout.pulseChannelMap != nil else {
      throw .systemFailure(reason: "PulseAudio has no layout \(configuration.layout.name)")
    }
    (self.configuration, self.keeper, self.render) = (configuration, keeper, render)
    if isRemote ?? isRemoteServer(configuration.output.serverAddress) {
      let monitor = MonitorSource(configuration)
      (source, self.monitor) = (monitor, monitor)
      module = Mutex(SinkModule(configuration, kind: .null))
    } else {
      let folder = try SinkFolder(in: runtimeFolder)
      folder.deleteOrphans()
      let pipe = try SinkPipe(
        path: folder.fifo(of: configuration.name), channelCount: configuration.layout.channelCount)
      source = PipeSource(pipe: pipe, sampleRate: configuration.output.sampleRate)
      monitor = nil
      module = Mutex(SinkModule(configuration, kind: .pipe(path: pipe.path)))
    }
    state = Mutex(
      State(
        sinkName: configuration.output.sinkName ?? "", delayFrames: configuration.delayFrames))
  }

  deinit { stop() }

  package var status: AudioOutputStatus {
    state.withLock { $0.output?.status ?? $0.status }
  }

  /// The number of frames that the server did not supply in time while programs played.
  package var missingFrames: Int {
    state.withLock {
      $0.missingFrames + ($0.feed?.missingFrames.load(ordering: .relaxed) ?? 0)
    }
  }

  package func takeEvents() -> [AudioOutputEvent] {
    state.withLock { state in
      defer { state.events = [] }
      return state.events + (state.output?.takeEvents() ?? [])
    }
  }

  package func start() throws(SoundServerError) {
    guard !worker.isStopped else { throw .stopped }
    try load()
    do throws(SoundServerError) {
      try state.withLock { state throws(SoundServerError) in try openOutput(&state) }
    } catch {
      monitor?.detach()
      module.withLock { $0.unload() }
      throw error
    }
    let this = Unmanaged.passUnretained(self)
    worker.start { this._withUnsafeGuaranteedRef { $0.work() } }
  }

  package func play(to sinkName: String) {
    state.withLock { $0.sinkName = sinkName }
    worker.wake()
  }

  package func report(delayFrames: Int) {
    state.withLock { state in
      state.delayFrames = delayFrames
      state.feed?.delayFrames.store(delayFrames, ordering: .relaxed)
    }
  }

  package func setInUse(_ isInUse: Bool) {
    state.withLock { state in
      guard state.isInUse != isInUse else { return }
      state.isInUse = isInUse
      guard let output = state.output, let feed = state.feed else { return }
      guard isInUse else { return output.pause() }
      output.resume()
      output.flush { feed.restart() }
    }
  }

  package func stop() {
    worker.stop()
    state.withLock { state in
      state.isStopped = true
      closeOutput(&state)
    }
    monitor?.detach()
    module.withLock { $0.unload() }
  }

  private func load() throws(SoundServerError) {
    try module.withLock { module throws(SoundServerError) in
      try module.load()
      try monitor?.attach()
    }
  }

  // MARK: The worker's thread

  /// Loads the module again after a loss, and opens the output again after a change of the sink.
  private func work() {
    while !worker.isStopped {
      worker.sleep(milliseconds: Self.interval)
      guard !worker.isStopped else { return }
      try? load()
      state.withLock { state in
        if state.outputSink != state.sinkName { try? openOutput(&state) }
      }
      keeper?.attend()
    }
  }

  /// Opens an output to the real sink in place of the last one.
  private func openOutput(_ state: inout State) throws(SoundServerError) {
    guard !state.isStopped else { throw .stopped }
    closeOutput(&state)
    var settings = configuration.output
    settings.sinkName = state.sinkName
    settings.mayMove = false
    settings.rewriting = .never
    settings.writesLargePieces = true
    settings.startsPaused = !state.isInUse
    if settings.latencyMilliseconds == nil {
      (settings.queueRules.appended, settings.queueRules.shallowest) = (Self.latency, Self.latency)
    }
    let feed = SinkFeed(
      source: source, sampleRate: settings.sampleRate,
      latency: settings.latencyMilliseconds ?? Self.latency, delayFrames: state.delayFrames,
      render: render)
    let output = try PulseOutput(settings, render: feed.callback)
    (state.feed, state.output) = (feed, output)
    try output.start()
    state.outputSink = state.sinkName
  }

  private func closeOutput(_ state: inout State) {
    guard let output = state.output else { return }
    output.stop()
    state.status = output.status
    state.events += output.takeEvents()
    state.missingFrames += state.feed?.missingFrames.load(ordering: .relaxed) ?? 0
    (state.output, state.feed, state.outputSink) = (nil, nil, nil)
  }
}
