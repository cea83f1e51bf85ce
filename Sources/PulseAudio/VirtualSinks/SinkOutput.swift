// SPDX-License-Identifier: Apache-2.0

import SoundServer
import Synchronization
import System

/// A stream that plays the mixed sound of several virtual sinks.
///
/// With one stream for each virtual sink, the server would mix in small pieces, which cause
/// underruns if the real sink is a pipe.
///
/// ## Threading
/// Any thread except the audio thread may use it.
package final class SinkOutput: @unchecked Sendable {
  /// The stream's initial and smallest latency if the configuration sets none [ms].
  static let latency = 30.0
  private static let interval = 100

  private struct State {
    var configuration: AudioOutputConfiguration?
    var feeds: [SinkFeed] = []
    var used: [SinkFeed] = []
    var output: PulseOutput?
    /// The sink that `output` plays to.
    var outputSink: String?
    var events: [AudioOutputEvent] = []
    var status = AudioOutputStatus()
  }

  private let mix = SinkMix()
  private let state = Mutex(State())
  private let worker = Worker()

  package init() {}

  deinit { worker.stop() }

  var status: AudioOutputStatus { state.withLock { $0.output?.status ?? $0.status } }

  /// Returns the new events if `feed` is the first of the attached feeds; otherwise none.
  func takeEvents(for feed: SinkFeed) -> [AudioOutputEvent] {
    state.withLock { state in
      guard state.feeds.first === feed else { return [] }
      defer { state.events = [] }
      return state.events + (state.output?.takeEvents() ?? [])
    }
  }

  /// Plays a feed, and opens the stream if it is closed. The configuration of the first call
  /// applies to all feeds.
  ///
  /// - Throws: the errors of `PulseOutput.init` and `PulseOutput.start`.
  func attach(
    _ feed: SinkFeed, _ configuration: AudioOutputConfiguration
  ) throws(SoundServerError) {
    try state.withLock { state throws(SoundServerError) in
      if state.configuration == nil { state.configuration = configuration }
      if state.output == nil { try open(&state) }
      state.feeds.append(feed)
    }
    // The reference stays valid: `deinit` waits for the end of the thread.
    let this = Unmanaged.passUnretained(self)
    worker.start { this._withUnsafeGuaranteedRef { $0.work() } }
    setInUse(true, feed)
  }

  /// Stops playing a feed. Closes the stream if no feed remains.
  func detach(_ feed: SinkFeed) {
    setInUse(false, feed)
    state.withLock { state in
      state.feeds.removeAll { $0 === feed }
      if state.feeds.isEmpty { close(&state) }
    }
  }

  /// Sets whether a feed is in use: whether programs play to its sink. The stream is paused while
  /// no feed is in use.
  func setInUse(_ isInUse: Bool, _ feed: SinkFeed) {
    state.withLock { state in
      guard isInUse != state.used.contains(where: { $0 === feed }) else { return }
      let wasUsed = !state.used.isEmpty
      if isInUse { state.used.append(feed) } else { state.used.removeAll { $0 === feed } }
      guard let output = state.output else { return mix.use(state.used) }
      let used = state.used
      if isInUse, !wasUsed {
        // Resume first: a stream that is flushed while paused reports no latency.
        output.resume()
        output.flush {
          feed.restart()
          mix.use(used)
        }
      } else {
        if isInUse { feed.restart() }
        output.withoutRendering { mix.use(used) }
        if used.isEmpty { output.pause() }
      }
    }
  }

  /// Selects another real sink. The worker then opens a new stream to it.
  func play(to sinkName: String) {
    state.withLock { $0.configuration?.sinkName = sinkName }
    worker.wake()
  }

  // MARK: The stream

  /// Opens a new stream when the real sink changes. Retries after a failure.
  private func work() {
    while !worker.isStopped {
      worker.sleep(milliseconds: Self.interval)
      guard !worker.isStopped else { return }
      state.withLock { state in
        guard !state.feeds.isEmpty, state.outputSink != state.configuration?.sinkName else {
          return
        }
        try? open(&state)
      }
    }
  }

  /// Closes an open stream, and opens a stream to the configured real sink.
  private func open(_ state: inout State) throws(SoundServerError) {
    close(&state)
    guard var settings = state.configuration else { return }
    settings.mayMove = false
    settings.rewriting = .never
    settings.writesLargePieces = true
    settings.startsPaused = state.used.isEmpty
    if settings.latencyMilliseconds == nil {
      (settings.queueRules.appended, settings.queueRules.shallowest) = (Self.latency, Self.latency)
    }
    for feed in state.used { feed.restart() }
    let output = try PulseOutput(settings, render: mix.callback)
    state.output = output
    do throws(SoundServerError) { try output.start() } catch {
      close(&state)
      throw error
    }
    state.outputSink = settings.sinkName
  }

  private func close(_ state: inout State) {
    guard let output = state.output else { return }
    output.stop()
    state.status = output.status
    state.events += output.takeEvents()
    (state.output, state.outputSink) = (nil, nil)
  }
}
