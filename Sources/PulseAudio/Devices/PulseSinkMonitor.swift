// SPDX-License-Identifier: Apache-2.0

public import SoundServer

/// Observes a server's sinks, their ports and the default sink, even across restarts of the server.
///
/// ## Threading
/// It may be used from any thread. `onChange` is called on the monitor's own thread, one call at a
/// time, and must not stop the monitor.
public final class PulseSinkMonitor: SinkMonitor {
  private let observer: DeviceObserver<ObservedDevices<Sink>>

  /// Starts to observe the sinks.
  ///
  /// - Parameters:
  ///   - serverAddress: see `AudioOutputConfiguration.serverAddress`.
  ///   - onChange: receives the sinks whenever a sink appears, changes or disappears or the default
  ///     sink changes. Receives an empty array when the server is lost.
  /// - Throws: `systemFailure`.
  public init(
    serverAddress: String? = nil, onChange: @escaping @Sendable ([Sink]) -> Void
  ) throws(SoundServerError) {
    let devices = ObservedDevices<Sink>(
      loop: try ThreadedLoop(name: "sink-monitor"), address: serverAddress)
    observer = try DeviceObserver(devices, retryInterval: 500_000_000, onChange: onChange)
  }

  public var sinks: [Sink] { observer.devices }

  public func stop() { observer.stop() }
}
