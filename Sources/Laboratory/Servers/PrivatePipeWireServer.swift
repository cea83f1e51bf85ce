// SPDX-License-Identifier: Apache-2.0

import Glibc

/// PipeWire with WirePlumber, PulseAudio's protocol and a D-Bus, all of one's own, with a null
/// sink "ears" as default.
///
/// ## Threading
/// One thread at a time.
public final class PrivatePipeWireServer {
  /// For `PULSE_SERVER` or a `serverAddress`.
  public let address: String

  private let directory: PrivatePulseDirectory
  private var environment: [String: String]
  private var processes: [PrivatePulseProcess] = []
  private var socketPath: String { directory.path + "/pulse/native" }

  /// The Debian package that is missing, or nil if such a server can be started.
  public static var missingPackage: String? {
    let needed = [
      ("pipewire", "pipewire"), ("wireplumber", "wireplumber"),
      ("pipewire-pulse", "pipewire-pulse"), ("dbus-daemon", "dbus-daemon"),
      ("pactl", "pulseaudio-utils"),
    ]
    return needed.first { PrivatePulseDirectory.find($0.0) == nil }?.1
  }

  public init() throws {
    if let package = Self.missingPackage {
      throw PrivatePulseError.missingProgram(package, package: package)
    }
    directory = try PrivatePulseDirectory()
    let home = directory.make("home")
    _ = directory.make("pulse")
    address = "unix:" + directory.path + "/pulse/native"
    environment = [
      "PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": home, "XDG_CONFIG_HOME": home + "/config",
      "XDG_STATE_HOME": home + "/state", "XDG_RUNTIME_DIR": directory.path,
      "PIPEWIRE_RUNTIME_DIR": directory.path, "PULSE_RUNTIME_PATH": directory.path + "/pulse",
      "DBUS_SESSION_BUS_ADDRESS": "unix:path=" + directory.path + "/bus",
    ]
    leaveBluetoothOut()
    try start()
  }

  deinit { stop() }

  /// WirePlumber's Bluetooth monitor asks systemd who is logged in, and where no systemd runs
  /// (containers) takes the whole session manager down with it.
  private func leaveBluetoothOut() {
    for name in ["home/config", "home/config/wireplumber"] { _ = directory.make(name) }
    let folder = directory.make("home/config/wireplumber/bluetooth.lua.d")
    guard let file = fopen(folder + "/51-private.lua", "w") else { return }
    fputs("bluez_monitor.enabled = false\n", file)
    fclose(file)
  }

  /// Runs `body` with a server that is gone afterwards.
  public static func withServer<Result>(
    _ body: (PrivatePipeWireServer) throws -> Result
  ) throws -> Result {
    let server = try PrivatePipeWireServer()
    defer { server.stop() }
    return try body(server)
  }

  public func stop() {
    while let process = processes.popLast() { process.end(signal: SIGTERM) }
  }

  /// All of it dies at once, as in a crash.
  public func kill() {
    while let process = processes.popLast() { process.end(signal: SIGKILL) }
  }

  public func freeze() { for process in processes { process.send(SIGSTOP) } }

  public func thaw() { for process in processes { process.send(SIGCONT) } }

  /// Starts it again at the same address.
  public func restart() throws {
    stop()
    for name in ["bus", "pipewire-0", "pipewire-0.lock", "pulse/native"] {
      unlink(directory.path + "/" + name)
    }
    try start()
  }

  @discardableResult
  public func pactl(_ arguments: [String]) throws -> String {
    try PrivatePulseProcess.run(
      ["pactl"] + arguments,
      environment: environment.merging(["PULSE_SERVER": address]) { $1 },
      directory: directory.path)
  }

  private func start() throws {
    let bus = "unix:path=" + directory.path + "/bus"
    try begin(
      ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=" + bus],
      socket: directory.path + "/bus")
    try begin(["pipewire"], socket: directory.path + "/pipewire-0")
    try begin(["wireplumber"], socket: nil)
    try begin(["pipewire-pulse"], socket: socketPath)
    try loadEars()
  }

  private func begin(_ arguments: [String], socket: String?) throws {
    let log = directory.path + "/" + arguments[0] + ".log"
    processes.append(try PrivatePulseProcess(arguments, environment: environment, log: log))
    guard let socket else { return }
    for _ in 0..<1000 {
      if unixSocketAccepts(socket) { return }
      usleep(5000)
    }
    stop()
    throw PrivatePulseError.notStarted(arguments[0], log: PrivatePulseProcess.readText(log))
  }

  /// Each step once it works: a sink that is loaded shows a moment later.
  private func loadEars() throws {
    try insist([
      "load-module", "module-null-sink", "sink_name=ears", "rate=48000", "channels=2",
      "channel_map=front-left,front-right",
    ])
    try insist(["set-default-sink", "ears"])
  }

  private func insist(_ arguments: [String]) throws {
    var problem: (any Error)?
    for _ in 0..<40 {
      do {
        try pactl(arguments)
        return
      } catch {
        problem = error
        usleep(50_000)
      }
    }
    stop()
    throw problem ?? PrivatePulseError.notStarted("pipewire", log: "no sink")
  }
}
