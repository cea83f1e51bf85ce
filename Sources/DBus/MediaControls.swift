// SPDX-License-Identifier: Apache-2.0

import CDBus
import Glibc
import Synchronization
import System

/// A player on the session bus that media keys and headset buttons control [MPRIS 2.2,
/// <https://specifications.freedesktop.org/mpris-spec/latest/>].
///
/// ## Threading
/// Any thread may use any member.
package final class MediaControls: Sendable {
  /// A method that the desktop calls, for example when a media key is pressed.
  package enum Command: String, Sendable, CaseIterable {
    case play = "Play"
    case pause = "Pause"
    case playPause = "PlayPause"
    case stop = "Stop"
    case next = "Next"
    case previous = "Previous"
  }

  /// The state of playback, which desktops can show.
  package enum Status: String, Sendable {
    case playing = "Playing"
    case paused = "Paused"
    case stopped = "Stopped"
  }

  /// The name on the bus, `org.mpris.MediaPlayer2.NAME.instancePID`.
  package let name: String
  private let worker = Worker()
  private let player: Player

  /// Connects to the session bus and begins to answer calls.
  ///
  /// - Parameters:
  ///   - name: the program's name in lower case.
  ///   - identity: the program's name for display.
  ///   - address: the bus's D-Bus address; nil for the usual address.
  ///   - onCommand: called for each command, on the thread that answers the calls.
  /// - Throws: an error, for example if libsystemd or the bus is missing, or if the name is taken.
  package init(
    name: String, identity: String, address: String? = nil,
    onCommand: @escaping @Sendable (Command) -> Void
  ) throws(BusError) {
    self.name = "org.mpris.MediaPlayer2.\(name).instance\(getpid())"
    player = Player(identity: identity, onCommand: onCommand)
    // After this initialiser, only the worker's thread uses the bus.
    nonisolated(unsafe) let bus = try Bus(.user, address: address)
    let result = bus_request_name(bus.bus, self.name, 0)
    guard result >= 0 else { throw BusError(number: -result) }
    let (player, worker) = (player, worker)
    worker.start { player.serve(bus, worker) }
  }

  deinit { worker.stop() }

  /// Sets the state of playback.
  package func set(_ status: Status) { player.status.withLock { $0 = status } }

  /// Leaves the bus.
  package func stop() { worker.stop() }

  /// The object on the bus. Threads other than the worker's use only `status`.
  fileprivate final class Player: Sendable {
    let status = Mutex(Status.stopped)
    let identity: String
    let onCommand: @Sendable (Command) -> Void

    init(identity: String, onCommand: @escaping @Sendable (Command) -> Void) {
      self.identity = identity
      self.onCommand = onCommand
    }
  }
}

extension MediaControls.Player {
  private static let path = "/org/mpris/MediaPlayer2"
  private static let root = "org.mpris.MediaPlayer2"
  private static let player = "org.mpris.MediaPlayer2.Player"
  private static let properties = "org.freedesktop.DBus.Properties"

  /// Answers calls and announces changes of the state, until the worker is stopped or the
  /// connection is lost.
  fileprivate func serve(_ bus: Bus, _ worker: Worker) {
    var slot: OpaquePointer?
    let context = Unmanaged.passUnretained(self).toOpaque()
    guard bus_add_object(bus.bus, &slot, Self.path, Self.handle, context) >= 0 else { return }
    defer { bus_cancel(slot) }
    var announced = MediaControls.Status.stopped
    while !worker.isStopped {
      let progress = bus_process(bus.bus, nil)
      // An error means that the connection is lost.
      if progress < 0 { return }
      let now = status.withLock { $0 }
      if now != announced {
        announced = now
        announce(now, bus)
      }
      if progress == 0 { _ = bus_wait(bus.bus, 50_000) }
    }
  }

  private func announce(_ status: MediaControls.Status, _ bus: Bus) {
    var pointer: OpaquePointer?
    guard
      bus_message_new_signal(
        bus.bus, &pointer, Self.path, Self.properties, "PropertiesChanged") >= 0, let pointer
    else { return }
    let message = BusMessage(pointer)
    message.append(Self.player)
    message.append([("PlaybackStatus", .text(status.rawValue))])
    message.container("a", "s") {}
    _ = bus_send(bus.bus, pointer, nil)
  }

  private static let handle: bus_handler = { message, context, error in
    guard let message, let context else { return 0 }
    return Unmanaged<MediaControls.Player>.fromOpaque(context)._withUnsafeGuaranteedRef {
      $0.answer(message, error)
    }
  }

  /// Answers one call. Returns 0 for an unknown call and a negative number for an unknown property;
  /// libsystemd then answers with an error.
  private func answer(_ call: OpaquePointer, _ error: UnsafeMutablePointer<bus_error>?) -> Int32 {
    func isCall(_ interface: String, _ name: String) -> Bool {
      bus_message_is_method_call(call, interface, name) > 0
    }
    for command in MediaControls.Command.allCases where isCall(Self.player, command.rawValue) {
      onCommand(command)
      return reply(call)
    }
    // These calls have no effect.
    for name in ["Raise", "Quit"] where isCall(Self.root, name) { return reply(call) }
    for name in ["Seek", "SetPosition", "OpenUri"] where isCall(Self.player, name) {
      return reply(call)
    }
    if isCall("org.freedesktop.DBus.Introspectable", "Introspect") {
      return reply(call) { $0.append(Self.introspection) }
    }
    if isCall(Self.properties, "Set") { return reply(call) }
    guard isCall(Self.properties, "Get") || isCall(Self.properties, "GetAll") else { return 0 }
    let request = BusMessage(retaining: call)
    let values = values(of: request.text() ?? "")
    guard isCall(Self.properties, "Get") else { return reply(call) { $0.append(values) } }
    let wanted = request.text() ?? ""
    guard let value = values.first(where: { $0.0 == wanted })?.1 else {
      return bus_error_set(
        error, "org.freedesktop.DBus.Error.UnknownProperty", "there is no property '\(wanted)'")
    }
    return reply(call) { $0.append(value) }
  }

  private func reply(_ call: OpaquePointer, _ fill: (BusMessage) -> Void = { _ in }) -> Int32 {
    var pointer: OpaquePointer?
    guard bus_message_new_method_return(call, &pointer) >= 0, let pointer else { return 0 }
    let message = BusMessage(pointer)
    fill(message)
    _ = bus_send(nil, pointer, nil)
    return 1
  }

  private func values(of interface: String) -> [(String, BusValue)] {
    switch interface {
    case Self.root:
      [
        ("CanQuit", .flag(false)), ("CanRaise", .flag(false)), ("HasTrackList", .flag(false)),
        ("Identity", .text(identity)), ("SupportedUriSchemes", .texts([])),
        ("SupportedMimeTypes", .texts([])),
      ]
    case Self.player:
      [
        ("PlaybackStatus", .text(status.withLock { $0.rawValue })), ("Rate", .number(1)),
        ("Metadata", .nothing), ("Volume", .number(1)), ("Position", .integer(0)),
        ("MinimumRate", .number(1)), ("MaximumRate", .number(1)), ("CanGoNext", .flag(true)),
        ("CanGoPrevious", .flag(false)), ("CanPlay", .flag(true)), ("CanPause", .flag(true)),
        ("CanSeek", .flag(false)), ("CanControl", .flag(true)),
      ]
    default: []
    }
  }

  /// The description of the interfaces in XML, for tools that list them.
  private static let introspection = """
    <node>
    <interface name="\(root)"><method name="Raise"/><method name="Quit"/>
    <property name="Identity" type="s" access="read"/></interface>
    <interface name="\(player)">
    \(MediaControls.Command.allCases.map { "<method name=\"\($0.rawValue)\"/>" }.joined())
    <property name="PlaybackStatus" type="s" access="read"/>
    <property name="CanControl" type="b" access="read"/></interface>
    <interface name="\(properties)">
    <method name="Get"><arg type="s" direction="in"/><arg type="s" direction="in"/>
    <arg type="v" direction="out"/></method>
    <method name="GetAll"><arg type="s" direction="in"/><arg type="a{sv}" direction="out"/></method>
    <signal name="PropertiesChanged"><arg type="s"/><arg type="a{sv}"/><arg type="as"/></signal>
    </interface></node>
    """
}
