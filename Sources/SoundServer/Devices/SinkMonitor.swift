// SPDX-License-Identifier: Apache-2.0

/// Observes a server's sinks and default sink, even across restarts of the server.
///
/// ## Threading
/// Any thread may use the monitor.
public protocol SinkMonitor: AnyObject, Sendable {
  /// The latest sinks, in the server's order; empty before the first list and without a server.
  var sinks: [Sink] { get }

  /// Stops the monitor without waiting for the server. No change is reported afterwards.
  func stop()
}
