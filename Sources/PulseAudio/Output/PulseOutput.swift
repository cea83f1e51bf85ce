// SPDX-License-Identifier: Apache-2.0

public import SoundServer

/// A stereo stream to a PulseAudio server, or to PipeWire through its PulseAudio protocol.
public final class PulseOutput: AudioOutput, @unchecked Sendable {
  private let session: OutputSession<PulseBackend>

  /// Prepares an output without contacting a server.
  ///
  /// - Throws: `unsupportedSampleRate` if the rate is not from 1 to 384000 Hz, or `systemFailure`.
  public init(
    _ configuration: AudioOutputConfiguration = .init(), render: AudioRenderCallback
  ) throws(SoundServerError) {
    session = OutputSession(try PulseBackend(configuration: configuration, callback: render))
  }

  deinit { stop() }

  public var status: AudioOutputStatus { session.status }

  public func takeEvents() -> [AudioOutputEvent] { session.takeEvents() }

  public func start() throws(SoundServerError) { try session.start() }

  /// Corks the stream and keeps the queue.
  public func pause() { session.pause() }

  public func resume() { session.resume() }

  public func flush(_ reposition: () -> Void) { session.flush(reposition) }

  /// Calls `body` while the render callback cannot run.
  package func withoutRendering(_ body: () -> Void) { session.loop.locked(body) }

  public func refresh() { session.refresh() }

  public func drain(timeoutMilliseconds: Int) -> Bool {
    session.drain(timeoutMilliseconds: timeoutMilliseconds)
  }

  public func stop() { session.stop() }
}
