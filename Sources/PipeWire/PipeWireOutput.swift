// SPDX-License-Identifier: Apache-2.0

import CPipeWire
import CRealtime
public import SoundServer
import Synchronization

/// A stereo stream to a PipeWire server.
///
/// There is no queue: in each cycle of the server's graph, the output renders the frames that the
/// cycle plays, on libpipewire's data thread. Rewriting is therefore unsupported, and `refresh` has
/// no effect. `AudioOutputConfiguration.latencyMilliseconds` is the length of a cycle to request.
/// `serverAddress` is the name or the path of the server's socket, or nil for the user's own
/// server.
public final class PipeWireOutput: AudioOutput, @unchecked Sendable {
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
  /// - Throws: `noPipeWire` if libpipewire is not installed or too old, `unsupportedSampleRate` if
  ///   the rate is not from 1 to 384000 Hz, or `systemFailure`.
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

  public func pause() { session.loop.locked { session.pause() } }

  public func resume() { session.loop.locked { session.resume() } }

  public func flush(_ reposition: () -> Void) {
    session.loop.locked { session.flush(reposition) }
  }

  public func refresh() {}

  public func drain(timeoutMilliseconds: Int) -> Bool {
    session.loop.locked { session.drain(timeoutMilliseconds: timeoutMilliseconds) }
  }

  public func stop() {
    session.loop.locked { session.markStopped() }
    let isFirst = thread.withLock { thread in
      defer { thread = .ended }
      if thread == .running { session.loop.stop() }
      return thread != .ended
    }
    if isFirst { session.close() }
  }

  private func runLoop() throws(SoundServerError) {
    try thread.withLock { thread throws(SoundServerError) in
      guard thread == .new else { return }
      try session.loop.start()
      thread = .running
    }
  }
}
