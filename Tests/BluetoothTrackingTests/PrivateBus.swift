// SPDX-License-Identifier: Apache-2.0

import DBus
import TestSupport

/// A private D-Bus system bus that everyone may use.
final class PrivateBus: Sendable {
  struct Failure: Error {}

  let address: String
  private let daemon: RunningProgram

  /// Starts the bus.
  ///
  /// - Throws: if there is no dbus-daemon, or if it does not start.
  init(in folder: TemporaryFolder) throws {
    let socket = folder.file("bus")
    let configuration = try folder.write(
      """
      <busconfig><type>system</type><listen>unix:path=\(socket)</listen>
      <policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/>
      <allow receive_sender="*"/></policy></busconfig>
      """, to: "bus.conf")
    address = "unix:path=\(socket)"
    daemon = try RunningProgram(
      ["dbus-daemon", "--config-file=\(configuration)", "--nofork", "--nopidfile"])
    let address = address
    guard waitUntil(seconds: 20, { (try? Bus(address: address)) != nil }) else { throw Failure() }
  }
}
