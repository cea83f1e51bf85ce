// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import Synchronization

/// A stereo stream to a PulseAudio or PipeWire server, fed by a render callback.
///
/// The stream position survives every loss: frames are pulled in sequence, and none are pulled
/// while there is no server or sink to play them. `AudioOutputStatus.framesQueuedAtLoss` is the
/// number of queued frames that the last loss dropped, so that the caller can step back by that
/// many frames.
///
/// ## Threading
/// The render callback runs on a thread that the output owns. All other calls are allowed from any
/// thread except that one; `refresh` is allowed there too. Nothing waits for the server, except
/// `start` and `drain`, which have a deadline. `status` and `takeEvents` never wait for the render
/// callback, nor does it wait for them.
public final class AudioOutput: @unchecked Sendable {
  private let session: OutputSession
  private enum Thread {
    case new
    case running
    case ended
  }

  /// The state of the loop's thread, which is kept so that `stop` may be called twice.
  private let thread = Mutex(Thread.new)

  /// Prepares an output. Nothing is sent to a server yet.
  ///
  /// - Throws: `unsupportedSampleRate` if the rate is not from 1 to 384000 Hz, or `systemFailure`.
  public init(
    _ configuration: AudioOutputConfiguration = .init(), render: AudioRenderCallback
  ) throws(PulseAudioError) {
    guard (1...384_000).contains(configuration.sampleRate) else {
      throw .unsupportedSampleRate(configuration.sampleRate)
    }
    session = try OutputSession(configuration: configuration, callback: render)
  }

  deinit { stop() }

  /// The current status of the output.
  public var status: AudioOutputStatus { session.board.snapshot() }

  /// Returns the events since the last call, oldest first, and removes them. Only the last 256
  /// events are kept.
  public func takeEvents() -> [AudioOutputEvent] { session.board.takeEvents() }

  /// Connects and begins to pull audio. Returns when the stream is open. After a later loss, the
  /// output reconnects without further calls.
  ///
  /// - Throws: the reason if the stream cannot be opened within the configured connect timeout;
  ///   `stopped` after `stop`.
  public func start() throws(PulseAudioError) {
    try runLoop()
    try session.loop.locked { () throws(PulseAudioError) in try session.start() }
  }

  /// Corks the stream: the sound stops at once, and the queue is kept.
  public func pause() {
    session.loop.locked { session.pause() }
  }

  /// Continues after `pause` or `drain`.
  public func resume() {
    session.loop.locked { session.resume() }
  }

  /// Drops the queue, for a seek.
  ///
  /// - Parameter reposition: called before the queue is dropped, while the render callback cannot
  ///   run. The next frames rendered are the next ones to play.
  public func flush(_ reposition: () -> Void = {}) {
    session.loop.locked {
      reposition()
      session.flush()
    }
  }

  /// Requests that the queue be rewritten: the callback's `RewriteFunction` is called soon if
  /// rewriting is active.
  ///
  /// The function may be called from any thread at any rate; calls that are still pending count as
  /// one. It neither blocks nor allocates: it writes to an eventfd.
  public func refresh() {
    session.loop.wake()
  }

  /// Stops pulling audio and waits until the queue has been played. Frames are pulled again after
  /// `resume`.
  ///
  /// - Returns: true if the queue has been played; false after the timeout, or if no stream is open
  ///   or the stream is lost.
  public func drain(timeoutMilliseconds: Int = 2000) -> Bool {
    session.loop.locked { session.drain(timeoutMilliseconds: timeoutMilliseconds) }
  }

  /// Ends the stream at once, drops the queue and ends the render callback's thread. Never waits
  /// for the server. The output cannot be started again.
  public func stop() {
    session.loop.locked { session.markStopped() }
    thread.withLock {
      if $0 == .running { session.loop.stop() }
      $0 = .ended
    }
    session.loop.locked { session.close() }
  }

  private func runLoop() throws(PulseAudioError) {
    try thread.withLock { thread throws(PulseAudioError) in
      guard thread == .new else { return }
      try session.loop.start()
      thread = .running
    }
  }
}
