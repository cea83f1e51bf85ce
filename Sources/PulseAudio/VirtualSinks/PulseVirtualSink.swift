// SPDX-License-Identifier: Apache-2.0

import Ambisonics
package import SoundServer
import Synchronization
import System

/// A virtual sink on a PulseAudio server.
///
/// If the server is on this machine, programs play to a module-pipe-sink. The output reads as many
/// frames from the module's FIFO as the real sink asks for, so the virtual sink runs on the real
/// sink's clock. On a remote server, programs play to a module-null-sink, whose monitor is recorded
/// and resampled to the real sink's clock.
package final class PulseVirtualSink: VirtualSink, @unchecked Sendable {
  private static let interval = 100

  package let configuration: VirtualSinkConfiguration
  private let feed: SinkFeed
  private let output: SinkOutput
  /// The source of `feed` if it is a monitor; otherwise nil.
  private let monitor: MonitorSource?
  private let module: Mutex<SinkModule>
  private let keeper: PulseSinkKeeper?
  private let worker = Worker()

  /// Prepares a virtual sink without contacting the server.
  ///
  /// - Parameters:
  ///   - output: the output that plays the sound. Several virtual sinks may share it. If it is nil,
  ///     this virtual sink has its own output.
  ///   - keeper: the child process that removes the sink if this process dies; nil for none.
  ///   - runtimeFolder: the parent of the FIFO's folder; nil for `XDG_RUNTIME_DIR`.
  ///   - isRemote: whether the server is on another machine; nil to judge by its address.
  /// - Throws: `unsupportedSampleRate`, or `systemFailure` if PulseAudio does not know the layout's
  ///   channels, or if the FIFO, its folder or a private pipe cannot be prepared.
  package init(
    _ configuration: VirtualSinkConfiguration, output: SinkOutput? = nil,
    keeper: PulseSinkKeeper? = nil, runtimeFolder: String? = nil, isRemote: Bool? = nil,
    render: LiveRenderCallback
  ) throws(SoundServerError) {
    guard (1...384_000).contains(configuration.output.sampleRate) else {
      throw .unsupportedSampleRate(configuration.output.sampleRate)
    }
    guard configuration.layout.pulseChannelMap != nil else {
      throw .systemFailure(
        reason: "PulseAudio does not support \(configuration.layout.name); choose another layout")
    }
    (self.configuration, self.keeper) = (configuration, keeper)
    self.output = output ?? SinkOutput()
    let source: any SinkSource
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
    feed = SinkFeed(
      source: source, sampleRate: configuration.output.sampleRate,
      latency: configuration.output.latencyMilliseconds ?? SinkOutput.latency,
      delayFrames: configuration.delayFrames, render: render)
  }

  deinit { stop() }

  package var status: AudioOutputStatus { output.status }

  /// The number of frames that the server did not supply in time; see `SinkFeed.missingFrames`.
  package var missingFrames: Int { feed.missingFrames.load(ordering: .relaxed) }

  package func takeEvents() -> [AudioOutputEvent] { output.takeEvents(for: feed) }

  package func start() throws(SoundServerError) {
    guard !worker.isStopped else { throw .stopped }
    try load()
    do throws(SoundServerError) {
      try output.attach(feed, configuration.output)
    } catch {
      monitor?.detach()
      module.withLock { $0.unload() }
      throw error
    }
    let this = Unmanaged.passUnretained(self)
    worker.start { this._withUnsafeGuaranteedRef { $0.work() } }
  }

  package func play(to sinkName: String) { output.play(to: sinkName) }

  package func report(delayFrames: Int) {
    feed.delayFrames.store(delayFrames, ordering: .relaxed)
  }

  package func setInUse(_ isInUse: Bool) { output.setInUse(isInUse, feed) }

  package func stop() {
    worker.stop()
    output.detach(feed)
    monitor?.detach()
    module.withLock { $0.unload() }
  }

  private func load() throws(SoundServerError) {
    try module.withLock { module throws(SoundServerError) in
      try module.load()
      try monitor?.attach()
    }
  }

  /// Regularly restores what is lost: the module, the recording of its monitor, and the keeper.
  private func work() {
    while !worker.isStopped {
      worker.sleep(milliseconds: Self.interval)
      guard !worker.isStopped else { return }
      try? load()
      keeper?.attend()
    }
  }
}
