// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import Synchronization

/// A stereo stream to a PulseAudio server (or PipeWire's), fed by a render callback.
///
/// The position is kept through everything: frames are pulled one after the other, and none while
/// there is no server or sink to play them. What was queued when a server went away is told by
/// `AudioOutputStatus.framesQueuedAtLoss`, so that the caller may step back that far.
///
/// ## Threading
/// The render callback runs on a thread that the output owns. Everything else may be called from
/// any thread but that one; `refresh` from that one too. Nothing waits for the server, except
/// `start` and `drain`, which have a deadline. `status` and `takeEvents` never wait for the render
/// callback, nor it for them.
public final class AudioOutput: @unchecked Sendable {
  private let session: OutputSession
  private enum Thread {
    case new
    case running
    case ended
  }

  /// The loop's thread, whose end may be asked for twice.
  private let thread = Mutex(Thread.new)

  /// Prepares an output; nothing is sent to a server yet.
  public init(
    _ configuration: AudioOutputConfiguration = .init(), render: AudioRenderCallback
  ) throws(PulseAudioError) {
    guard (1...384_000).contains(configuration.sampleRate) else {
      throw .unsupportedSampleRate(configuration.sampleRate)
    }
    session = try OutputSession(configuration: configuration, callback: render)
  }

  deinit { stop() }

  /// The output at this moment.
  public var status: AudioOutputStatus { session.board.snapshot() }

  /// What happened since the last call, oldest first. The last 256 events are kept.
  public func takeEvents() -> [AudioOutputEvent] { session.board.takeEvents() }

  /// Connects and begins to pull audio. Returns when the stream is open, or throws within the
  /// configuration's connect timeout. Losses after that are mended without further calls.
  public func start() throws(PulseAudioError) {
    try runLoop()
    try session.loop.locked { () throws(PulseAudioError) in try session.start() }
  }

  /// Corks the stream: the sound stops at once and the queue is kept.
  public func pause() {
    session.loop.locked { session.pause() }
  }

  /// Goes on after `pause` or `drain`.
  public func resume() {
    session.loop.locked { session.resume() }
  }

  /// Throws away what is queued, for a seek.
  ///
  /// - Parameter reposition: called before the queue is dropped, while the render callback cannot
  ///   run: what it renders next is what is heard next.
  public func flush(_ reposition: () -> Void = {}) {
    session.loop.locked {
      reposition()
      session.flush()
    }
  }

  /// The queue should be looked at again: the callback's `RewriteFunction` is called soon.
  ///
  /// From any thread, at any rate: calls before the look are one. Neither blocks nor allocates; it
  /// writes to an eventfd.
  public func refresh() {
    session.loop.wake()
  }

  /// Stops pulling audio and waits until what is queued has been heard. True if it has; false if
  /// the time passed first, or the server or the sink went away. Frames are pulled again after
  /// `resume`.
  public func drain(timeoutMilliseconds: Int = 2000) -> Bool {
    session.loop.locked { session.drain(timeoutMilliseconds: timeoutMilliseconds) }
  }

  /// Ends the stream at once, dropping what is queued, and lets go of the render callback's thread.
  /// Never waits for the server. The output cannot be started again.
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
