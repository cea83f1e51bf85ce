// SPDX-License-Identifier: Apache-2.0

public import SoundServer

/// Observes a server's sinks and default sink, even across restarts of the server.
///
/// ## Threading
/// Any thread may use the monitor. `onChange` is called on a separate thread and must not call
/// `stop`.
public final class PulseSinkMonitor: SinkMonitor {
  private let observer: DeviceObserver<ObservedDevices<Sink>>

  /// Starts to observe the sinks.
  ///
  /// - Parameters:
  ///   - serverAddress: see `AudioOutputConfiguration.serverAddress`.
  ///   - onChange: receives the sinks when they are first known and after each change of a sink or
  ///     of the default sink, or an empty array if the server is lost.
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
