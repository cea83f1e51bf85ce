// SPDX-License-Identifier: Apache-2.0

/// Observes a server's sinks, their ports and the default sink, even across restarts of the server.
///
/// ## Threading
/// It may be used from any thread.
public protocol SinkMonitor: AnyObject, Sendable {
  /// The sinks as last reported, in the server's order; empty if there is no server.
  var sinks: [Sink] { get }

  /// Ends the monitor without waiting for the server. If a change is being reported, waits for the
  /// end of that report. No further change is reported.
  func stop()
}
