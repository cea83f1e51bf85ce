// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import System
import TestSupport
import Testing

@testable import DBus

/// Tests media keys on a private session bus, with `dbus-send` and `dbus-monitor` as the desktop.
@Suite struct MediaControlsTests {
  private final class PrivateBus {
    let address: String
    private let daemon: RunningProgram

    init(in folder: TemporaryFolder) throws {
      let socket = folder.file("bus")
      let configuration = try folder.write(
        """
        <busconfig><type>session</type><listen>unix:path=\(socket)</listen>
        <policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/>
        <allow eavesdrop="true"/></policy></busconfig>
        """, to: "bus.conf")
      address = "unix:path=\(socket)"
      daemon = try RunningProgram(
        ["dbus-daemon", "--config-file=\(configuration)", "--nofork", "--nopidfile"])
      let address = address
      // The socket exists before the daemon accepts connections.
      try #require(waitUntil(seconds: 20) { (try? Bus(.user, address: address)) != nil })
    }

    /// Calls a method of the player, and returns what `dbus-send` prints.
    func send(to name: String, _ member: String, _ arguments: [String] = []) throws -> String {
      let run = try ProgramRun.of(
        "dbus-send",
        [
          "--bus=\(address)", "--print-reply", "--dest=\(name)", "/org/mpris/MediaPlayer2", member,
        ] + arguments)
      return run.output + run.errors
    }
  }

  private final class Commands: Sendable {
    let all = Mutex<[MediaControls.Command]>([])
  }

  private let player = "org.mpris.MediaPlayer2.Player"

  @Test("Every command of a media key arrives, in order")
  func commands() throws {
    let folder = TemporaryFolder()
    let bus = try PrivateBus(in: folder)
    let heard = Commands()
    let controls = try MediaControls(
      name: "stillstage", identity: "Stillstage", address: bus.address,
      onCommand: { command in heard.all.withLock { $0.append(command) } })
    for command in MediaControls.Command.allCases {
      _ = try bus.send(to: controls.name, "\(player).\(command.rawValue)")
    }
    #expect(heard.all.withLock { $0 } == MediaControls.Command.allCases)
    #expect(controls.name == "org.mpris.MediaPlayer2.stillstage.instance\(getpid())")
  }

  @Test("The state and the identity are readable, and an unknown property is an error")
  func properties() throws {
    let folder = TemporaryFolder()
    let bus = try PrivateBus(in: folder)
    let controls = try MediaControls(
      name: "stillstage", identity: "Stillstage", address: bus.address, onCommand: { _ in })
    let get = "org.freedesktop.DBus.Properties.Get"
    controls.set(.paused)
    let status = ["string:\(player)", "string:PlaybackStatus"]
    #expect(try bus.send(to: controls.name, get, status).contains("\"Paused\""))
    let identity = ["string:org.mpris.MediaPlayer2", "string:Identity"]
    #expect(try bus.send(to: controls.name, get, identity).contains("\"Stillstage\""))
    let unknown = ["string:\(player)", "string:Colour"]
    #expect(try bus.send(to: controls.name, get, unknown).contains("UnknownProperty"))
    let all = try bus.send(
      to: controls.name, "org.freedesktop.DBus.Properties.GetAll", ["string:\(player)"])
    for name in ["CanPause", "Position", "Rate", "Metadata"] { #expect(all.contains(name)) }
  }

  @Test("A change of the state is announced")
  func announcement() throws {
    let folder = TemporaryFolder()
    let bus = try PrivateBus(in: folder)
    let controls = try MediaControls(
      name: "stillstage", identity: "Stillstage", address: bus.address, onCommand: { _ in })
    let log = folder.file("monitor")
    let monitor = try RunningProgram([
      "sh", "-c",
      "exec dbus-monitor --address \(bus.address) \"interface='org.freedesktop.DBus.Properties'\" "
        + "> \(log)",
    ])
    func seen(_ text: String) -> Bool {
      (try? readFile(log)).map { String(decoding: $0, as: UTF8.self).contains(text) } ?? false
    }
    // A monitor that has not yet begun misses a change, so the state changes until it is seen.
    let isSeen = waitUntil(seconds: 20) {
      controls.set(.playing)
      usleep(120_000)
      controls.set(.stopped)
      usleep(120_000)
      return seen("\"Playing\"") && seen("\"Stopped\"")
    }
    #expect(isSeen)
    withExtendedLifetime(monitor) {}
  }

  @Test("Without a session bus, the reason is an error")
  func noBus() {
    #expect(throws: BusError.self) {
      try MediaControls(
        name: "stillstage", identity: "Stillstage", address: "unix:path=/nonexistent",
        onCommand: { _ in })
    }
  }
}
