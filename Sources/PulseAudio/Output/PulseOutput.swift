// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
public import SoundServer
import Synchronization

/// A stereo stream to a PulseAudio server, or to PipeWire through its PulseAudio protocol.
///
/// `refresh` writes to an eventfd.
public final class PulseOutput: AudioOutput, @unchecked Sendable {
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
  ) throws(SoundServerError) {
    guard (1...384_000).contains(configuration.sampleRate) else {
      throw .unsupportedSampleRate(configuration.sampleRate)
    }
    session = try OutputSession(configuration: configuration, callback: render)
  }

  deinit { stop() }

  public var status: AudioOutputStatus { session.board.snapshot() }

  public func takeEvents() -> [AudioOutputEvent] { session.board.takeEvents() }

  public func start() throws(SoundServerError) {
    try runLoop()
    try session.loop.locked { () throws(SoundServerError) in try session.start() }
  }

  /// Corks the stream: the sound stops at once, and the queue is kept.
  public func pause() {
    session.loop.locked { session.pause() }
  }

  public func resume() {
    session.loop.locked { session.resume() }
  }

  public func flush(_ reposition: () -> Void) {
    session.loop.locked {
      reposition()
      session.flush()
    }
  }

  public func refresh() {
    session.loop.wake()
  }

  public func drain(timeoutMilliseconds: Int) -> Bool {
    session.loop.locked { session.drain(timeoutMilliseconds: timeoutMilliseconds) }
  }

  public func stop() {
    session.loop.locked { session.markStopped() }
    thread.withLock {
      if $0 == .running { session.loop.stop() }
      $0 = .ended
    }
    session.loop.locked { session.close() }
  }

  private func runLoop() throws(SoundServerError) {
    try thread.withLock { thread throws(SoundServerError) in
      guard thread == .new else { return }
      try session.loop.start()
      thread = .running
    }
  }
}
