// SPDX-License-Identifier: Apache-2.0

public import SoundServer

/// Observes a server's sinks and default sink, even across restarts of the server.
///
/// ## Threading
/// Any thread may use the monitor. `onChange` is called on the monitor's own thread and must not
/// stop the monitor.
public final class PipeWireSinkMonitor: SinkMonitor {
  private let observer: DeviceObserver<Connection>

  /// Starts to observe the sinks.
  ///
  /// - Parameters:
  ///   - serverAddress: the name or the path of the server's socket; nil for the user's own server.
  ///   - onChange: receives the sinks when they are first known and after each change of a sink or
  ///     of the default sink, or an empty array if the server is lost.
  /// - Throws: `noPipeWire` if libpipewire is not installed or too old, or `systemFailure`.
  public init(
    serverAddress: String? = nil, onChange: @escaping @Sendable ([Sink]) -> Void
  ) throws(SoundServerError) {
    let connection = Connection(
      loop: try ThreadedLoop(name: "sink-monitor"), address: serverAddress,
      applicationName: "Stillstage", isRealtime: false)
    observer = try DeviceObserver(connection, retryInterval: 500_000_000, onChange: onChange)
  }

  public var sinks: [Sink] { observer.devices }

  public func stop() { observer.stop() }
}
