// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Synchronization

/// A connection on which a server describes its devices of one kind.
///
/// ## Threading
/// Any thread may read `loop`. `destroy` is called after the loop's thread has ended. Everything
/// else runs on that thread.
package protocol DeviceConnection: AnyObject {
  associatedtype Device: DeviceDescription
  associatedtype Loop: ClientLoop

  var loop: Loop { get }
  /// Whether a connection exists: one that is being set up, is ready or has been lost.
  var isOpen: Bool { get }
  /// Whether the connection is being set up or is ready.
  var isGood: Bool { get }

  /// Begins to connect. From then on, a change of `isGood` or of the devices kicks the loop.
  func open()

  /// Closes the connection without waiting for the server.
  func close()

  /// Returns the devices in the server's order; nil if no list is ready. Also requests a new list
  /// if one is needed.
  func readDevices() -> [Device]?

  /// Closes the connection, which is not used afterwards.
  func destroy()
}

/// Observes a server's devices of one kind, even across restarts of the server.
///
/// ## Threading
/// Any thread may use the observer. `onChange` is called on the loop's thread and must not stop the
/// observer.
package final class DeviceObserver<Connection: DeviceConnection>: @unchecked Sendable {
  private let connection: Connection
  private let retryInterval: Int64
  private let onChange: @Sendable ([Connection.Device]) -> Void
  private let known = Mutex<[Connection.Device]>([])
  private let isStopped = Mutex(false)
  /// The earliest time of the next attempt to connect, in CLOCK_MONOTONIC nanoseconds. Only the
  /// loop's thread uses it.
  private var retryTime: Int64 = 0

  /// Starts to observe the devices.
  ///
  /// - Parameters:
  ///   - retryInterval: the least time from a loss or an attempt to the next attempt [ns].
  ///   - onChange: receives the devices after each change, or an empty array if the server is lost.
  /// - Throws: `systemFailure`.
  package init(
    _ connection: Connection, retryInterval: Int64,
    onChange: @escaping @Sendable ([Connection.Device]) -> Void
  ) throws(SoundServerError) {
    (self.connection, self.retryInterval, self.onChange) = (connection, retryInterval, onChange)
    // `unowned` would trap in a tick that runs while `deinit` waits for the end of the loop.
    let this = Unmanaged.passUnretained(self)
    connection.loop.onTick = { this._withUnsafeGuaranteedRef { $0.attend() } }
    try connection.loop.start()
  }

  deinit { stop() }

  /// The latest devices, in the server's order; empty before the first list and without a server.
  package var devices: [Connection.Device] { known.withLock { $0 } }

  /// Stops the observer without waiting for the server. `onChange` is not called afterwards.
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
