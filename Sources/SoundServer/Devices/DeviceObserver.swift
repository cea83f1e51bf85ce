// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Synchronization

/// A connection on which a server describes its devices of one kind.
///
/// ## Threading
/// Everything runs on the loop's thread, except `destroy`.
package protocol DeviceConnection: AnyObject {
  associatedtype Device: DeviceDescription
  associatedtype Loop: ClientLoop

  var loop: Loop { get }
  /// Whether `open` has made a connection that has not been closed.
  var isOpen: Bool { get }
  /// Whether the open connection has not been lost.
  var isGood: Bool { get }

  /// Begins to connect. Kicks the loop whenever `isGood` or the devices change.
  func open()

  /// Ends the connection without waiting for the server.
  func close()

  /// Takes the next step towards a description of the devices. Returns them in the server's order;
  /// nil if nothing new is known.
  func readDevices() -> [Device]?

  /// Ends the connection for good. The loop's thread has already ended.
  func destroy()
}

/// Observes a server's devices of one kind, even across restarts of the server.
///
/// ## Threading
/// It may be used from any thread. `onChange` is called on the loop's thread, one call at a time,
/// and must not stop the observer.
package final class DeviceObserver<Connection: DeviceConnection>: @unchecked Sendable {
  private let connection: Connection
  private let retryInterval: Int64
  private let onChange: @Sendable ([Connection.Device]) -> Void
  private let known = Mutex<[Connection.Device]>([])
  private let isStopped = Mutex(false)
  /// Owned by the loop's thread.
  private var retryTime: Int64 = 0

  /// Starts to observe the devices.
  ///
  /// - Parameters:
  ///   - retryInterval: the least time from a loss or an attempt to the next attempt [ns].
  ///   - onChange: receives the devices whenever they change. Receives an empty array when the
  ///     server is lost.
  /// - Throws: `systemFailure`.
  package init(
    _ connection: Connection, retryInterval: Int64,
    onChange: @escaping @Sendable ([Connection.Device]) -> Void
  ) throws(SoundServerError) {
    (self.connection, self.retryInterval, self.onChange) = (connection, retryInterval, onChange)
    // Not `unowned`: the last tick may run while this object is being released, and `deinit` waits
    // for that tick.
    let this = Unmanaged.passUnretained(self)
    connection.loop.onTick = { this._withUnsafeGuaranteedRef { $0.attend() } }
    try connection.loop.start()
  }

  deinit { stop() }

  /// The devices as last reported, in the server's order; empty if there is no server.
  package var devices: [Connection.Device] { known.withLock { $0 } }

  /// Ends the observation without waiting for the server. `onChange` is not called afterwards.
  package func stop() {
    let isFirst = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
    guard isFirst else { return }
    connection.loop.stop()
    connection.destroy()
  }

  private func attend() {
    let now = monotonic_nanoseconds()
    if !connection.isOpen {
      guard now >= retryTime else { return }
      retryTime = now + retryInterval
      connection.open()
    } else if !connection.isGood {
      connection.close()
      retryTime = now + retryInterval
      tell([])
    } else if let devices = connection.readDevices() {
      tell(devices)
    }
  }

  private func tell(_ devices: [Connection.Device]) {
    let isNews = known.withLock { known in
      defer { known = devices }
      return known != devices
    }
    if isNews { onChange(devices) }
  }
}
