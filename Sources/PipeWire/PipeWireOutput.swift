// SPDX-License-Identifier: Apache-2.0

public import SoundServer

/// A stereo stream to a PipeWire server.
///
/// There is no queue: each cycle of the server's graph renders the frames that the cycle plays.
/// Rewriting is therefore unsupported, and `refresh` has no effect.
/// `AudioOutputConfiguration.latencyMilliseconds` is the cycle length to request. `serverAddress`
/// is the name or the path of the server's socket; nil for the user's own server.
public final class PipeWireOutput: AudioOutput, @unchecked Sendable {
  private let session: OutputSession<PipeWireBackend>

  /// Prepares an output without contacting a server.
  ///
  /// - Throws: `noPipeWire` if libpipewire is not installed or too old, `unsupportedSampleRate` if
  ///   the rate is not from 1 to 384000 Hz, or `systemFailure`.
  public init(
    _ configuration: AudioOutputConfiguration = .init(), render: AudioRenderCallback
  ) throws(SoundServerError) {
    session = OutputSession(
      try PipeWireBackend(configuration) {
        OutputStream(library: $0, configuration: configuration, callback: render)
      })
  }

  deinit { stop() }

  public var status: AudioOutputStatus { session.status }

  public func takeEvents() -> [AudioOutputEvent] { session.takeEvents() }

  public func start() throws(SoundServerError) { try session.start() }

  public func pause() { session.pause() }

  public func resume() { session.resume() }

  public func flush(_ reposition: () -> Void) { session.flush(reposition) }

  public func refresh() { session.refresh() }

  public func drain(timeoutMilliseconds: Int) -> Bool {
    session.drain(timeoutMilliseconds: timeoutMilliseconds)
  }

  public func stop() { session.stop() }
}
