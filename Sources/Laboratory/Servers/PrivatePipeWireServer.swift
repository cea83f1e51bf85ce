// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A private PipeWire server with WirePlumber, PulseAudio's protocol and D-Bus. Its default sink is
/// a null sink named "ears".
///
/// ## Threading
/// Not thread-safe: call it from one thread at a time.
public final class PrivatePipeWireServer {
  /// The server's PulseAudio address, as in `PULSE_SERVER`.
  public let address: String

  /// The path of PipeWire's socket.
  public var socketPath: String { directory.path + "/pipewire-0" }
  /// The environment in which programs find this server.
  public private(set) var environment: [String: String]

  private let directory: PrivatePulseDirectory
  private var processes: [PrivatePulseProcess] = []

  /// The first missing Debian package that the server needs; nil if none is missing.
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

  /// Disables the Bluetooth monitor of WirePlumber 0.4, which makes WirePlumber exit if systemd is
  /// missing.
  private func leaveBluetoothOut() {
    for name in ["home/config", "home/config/wireplumber"] { _ = directory.make(name) }
    let folder = directory.make("home/config/wireplumber/bluetooth.lua.d")
    guard let file = fopen(folder + "/51-private.lua", "w") else { return }
    fputs("bluez_monitor.enabled = false\n", file)
    fclose(file)
  }

  /// Runs `body` with a new server, which is stopped afterwards.
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

  /// Kills the server's processes, as in a crash.
  public func kill() {
    while let process = processes.popLast() { process.end(signal: SIGKILL) }
  }

  /// Ends one program of the server: `dbus-daemon`, `pipewire`, `wireplumber` or `pipewire-pulse`.
  public func end(_ program: String) {
    processes.first { $0.name == program }?.end(signal: SIGTERM)
  }

  public func freeze() { for process in processes { process.send(SIGSTOP) } }

  public func thaw() { for process in processes { process.send(SIGCONT) } }

  /// Restarts the server at the same address.
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

  /// Loads a null sink and returns its module index, for `unload`; -1 if `pactl` printed none.
  ///
  /// - Parameter properties: the sink's properties, such as `device.form_factor=headphone`.
  public func loadSink(_ name: String, rate: Int = 48_000, properties: String = "") throws -> Int {
    let answer = try pactl([
      "load-module", "module-null-sink", "sink_name=\(name)", "rate=\(rate)", "channels=2",
      "channel_map=front-left,front-right", "sink_properties=\(properties)",
    ])
    return Int(answer.prefix { $0.isNumber }) ?? -1
  }

  public func unload(module: Int) throws { try pactl(["unload-module", "\(module)"]) }

  /// Unloads all null sinks, including "ears".
  public func unloadAllSinks() throws { try pactl(["unload-module", "module-null-sink"]) }

  /// Sets a value in the server's `settings` metadata, such as `clock.force-quantum`.
  public func set(_ key: String, to value: Int) throws {
    try PrivatePulseProcess.run(
      ["pw-metadata", "-n", "settings", "0", key, "\(value)"], environment: environment,
      directory: directory.path)
  }

  private func start() throws {
    let bus = "unix:path=" + directory.path + "/bus"
    try begin(
      ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=" + bus],
      socket: directory.path + "/bus")
    try begin(["pipewire"], socket: socketPath)
    try begin(["wireplumber"], socket: nil)
    try begin(["pipewire-pulse"], socket: directory.path + "/pulse/native")
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

  /// Loads the sink "ears" and makes it the default. Each command is tried up to 40 times, because
  /// the server may not be ready yet and a loaded sink appears with a delay.
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
    throw problem ?? PrivatePulseError.notStarted("pipewire", log: "its sink did not appear")
  }
}
