// SPDX-License-Identifier: Apache-2.0

import SoundServer
import Synchronization
import System

/// The one stream that plays the sound of all virtual sinks of a process to the real sink.
///
/// With several streams, even paused ones, the server would mix in pieces that end wherever a piece
/// of any stream ends. If the real sink is a pipe, such small pieces make it run dry.
///
/// ## Threading
/// It may be used from any thread except the audio thread.
package final class SinkOutput: @unchecked Sendable {
  /// The initial latency of the stream in ms if the configuration sets none; it adapts from there.
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

  /// Returns the events since the last call if `feed` was attached first; otherwise none.
  func takeEvents(for feed: SinkFeed) -> [AudioOutputEvent] {
    state.withLock { state in
      guard state.feeds.first === feed else { return [] }
      defer { state.events = [] }
      return state.events + (state.output?.takeEvents() ?? [])
    }
  }

  /// Plays a feed, and opens the stream unless another feed has opened it.
  ///
  /// - Throws: the reason if the stream cannot be opened in time.
  func attach(
    _ feed: SinkFeed, _ configuration: AudioOutputConfiguration
  ) throws(SoundServerError) {
    try state.withLock { state throws(SoundServerError) in
      if state.configuration == nil { state.configuration = configuration }
      if state.output == nil { try open(&state) }
      state.feeds.append(feed)
    }
    // `deinit` waits for the end of the thread.
    let this = Unmanaged.passUnretained(self)
    worker.start { this._withUnsafeGuaranteedRef { $0.work() } }
    setInUse(true, feed)
  }

  /// Stops playing a feed. Closes the stream if no other feed is attached.
  func detach(_ feed: SinkFeed) {
    setInUse(false, feed)
    state.withLock { state in
      state.feeds.removeAll { $0 === feed }
      if state.feeds.isEmpty { close(&state) }
    }
  }

  /// Sets whether programs play to the sink of a feed. The stream is paused while no feed is in
  /// use.
  func setInUse(_ isInUse: Bool, _ feed: SinkFeed) {
    state.withLock { state in
      guard isInUse != state.used.contains(where: { $0 === feed }) else { return }
      let wasUsed = !state.used.isEmpty
      if isInUse { state.used.append(feed) } else { state.used.removeAll { $0 === feed } }
      guard let output = state.output else { return mix.use(state.used) }
      let used = state.used
      if isInUse, !wasUsed {
        // In this order, because a stream that is flushed while it is paused reports no latency.
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

  /// Plays to another real sink from now on.
  func play(to sinkName: String) {
    state.withLock { $0.configuration?.sinkName = sinkName }
    worker.wake()
  }

  // MARK: The stream

  /// Opens the stream again when the real sink changes, and retries until that succeeds.
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

  /// Closes the stream, if there is one, and opens a stream to the configured real sink.
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
