// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc

/// A private PulseAudio server without D-Bus or real-time scheduling. By default, it has a null
/// sink named "ears".
///
/// ## Threading
/// Not thread-safe: call it from one thread at a time.
public final class PrivatePulseServer {
  /// The configuration of a server.
  public struct Form: Sendable {
    /// The sample rate of the sink "ears" [Hz].
    public var sinkRate = 48_000
    /// Whether the server has the sink "ears".
    public var hasDefaultSink = true
    /// Modules to load, each with its arguments.
    public var modules: [String] = []
    /// Additional variables of the server's environment.
    public var environment: [String: String] = [:]
    /// The path of a library whose functions replace functions of the same name in the server
    /// (LD_PRELOAD); nil for none.
    public var preloadedLibrary: String?

    public init() {}
  }

  /// The server's address, as in `PULSE_SERVER`.
  public let address: String
  public var sinkRate: Int { form.sinkRate }

  private let directory: PrivatePulseDirectory
  private let program: String
  private let environment: [String: String]
  private let form: Form
  private var process: PrivatePulseProcess?
  private var socketPath: String { directory.path + "/native" }

  /// The first missing Debian package that the server needs; nil if none is missing.
  public static var missingPackage: String? {
    let needed = [("pulseaudio", "pulseaudio"), ("pactl", "pulseaudio-utils")]
    return needed.first { PrivatePulseDirectory.find($0.0) == nil }?.1
  }

  /// Starts the server and waits until it accepts connections.
  ///
  /// - Parameters:
  ///   - sinkRate: the sample rate of the sink "ears", in Hz.
  ///   - hasDefaultSink: false to start without any sink.
  /// - Throws: `PrivatePulseError` if a program is missing, or if the server cannot start or does
  ///   not accept a connection in time; `SystemError` if the server's `ProcessGuardian` cannot
  ///   start.
  public convenience init(sinkRate: Int = 48_000, hasDefaultSink: Bool = true) throws {
    var form = Form()
    (form.sinkRate, form.hasDefaultSink) = (sinkRate, hasDefaultSink)
    try self.init(form)
  }

  /// Starts a server with a configuration and waits until it accepts connections.
  ///
  /// - Throws: `PrivatePulseError` if a program is missing, or if the server cannot start or does
  ///   not accept a connection in time; `SystemError` if the server's `ProcessGuardian` cannot
  ///   start.
  public init(_ form: Form) throws {
    program = try PrivatePulseDirectory.require("pulseaudio", package: "pulseaudio")
    _ = try PrivatePulseDirectory.require("pactl", package: "pulseaudio-utils")
    directory = try PrivatePulseDirectory()
    self.form = form
    address = "unix:" + directory.path + "/native"
    environment = [
      "PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": directory.make("home"),
      "XDG_RUNTIME_DIR": directory.path, "PULSE_RUNTIME_PATH": directory.make("run"),
      "PULSE_STATE_PATH": directory.make("state"), "PULSE_SERVER": address,
    ]
    try start()
  }

  deinit { stop() }

  /// Runs `body` with a new server, which is stopped afterwards.
  public static func withServer<Result>(
    sinkRate: Int = 48_000, _ body: (PrivatePulseServer) throws -> Result
  ) throws -> Result {
    let server = try PrivatePulseServer(sinkRate: sinkRate)
    defer { server.stop() }
    return try body(server)
  }

  public func stop() {
    process?.end(signal: SIGTERM)
    process = nil
  }

  /// Kills the server, as in a crash.
  public func kill() {
    process?.end(signal: SIGKILL)
    process = nil
  }

  /// Suspends the server. Connections stay open, but the server does not respond.
  public func freeze() { process?.send(SIGSTOP) }

  public func thaw() { process?.send(SIGCONT) }

  /// Restarts the server at the same address and returns the CLOCK_MONOTONIC time at which it first
  /// accepted a connection, in ns.
  @discardableResult
  public func restart() throws -> Int64 {
    stop()
    return try start()
  }

  /// Loads a null sink and returns its module index, for `unload`; -1 if `pactl` printed none.
  public func loadSink(_ name: String, rate: Int = 48_000) throws -> Int {
    let answer = try pactl(["load-module"] + Self.nullSink(name, rate: rate))
    return Int(answer.prefix { $0.isNumber }) ?? -1
  }

  public func unload(module: Int) throws { try pactl(["unload-module", "\(module)"]) }

  /// Unloads all null sinks, including "ears".
  public func unloadAllSinks() throws { try pactl(["unload-module", "module-null-sink"]) }

  @discardableResult
  public func pactl(_ arguments: [String]) throws -> String {
    try PrivatePulseProcess.run(
      ["pactl"] + arguments, environment: environment, directory: directory.path)
  }

  /// Returns the name and the arguments of a null sink's module. Without `norewinds`, up to 2 s
  /// pass before the sink first requests audio.
  private static func nullSink(_ name: String, rate: Int) -> [String] {
    [
      "module-null-sink", "sink_name=\(name)", "rate=\(rate)", "channels=2",
      "channel_map=front-left,front-right", "format=float32le", "norewinds=1",
      "sink_properties=device.description=Private-\(name)",
    ]
  }

  @discardableResult
  private func start() throws -> Int64 {
    var arguments = [
      program, "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--realtime=no",
      "--high-priority=no", "--disable-shm=yes", "--log-level=notice", "-n",
    ]
    for module in form.modules { arguments += ["-L", module] }
    if form.hasDefaultSink {
      arguments += ["-L", Self.nullSink("ears", rate: sinkRate).joined(separator: " ")]
    }
    // The socket is created last, so that everything else exists once the socket does.
    arguments += ["-L", "module-native-protocol-unix socket=\(socketPath) auth-anonymous=1"]
    let log = directory.path + "/pulse.log"
    var environment = environment.merging(form.environment) { $1 }
    if let library = form.preloadedLibrary { environment["LD_PRELOAD"] = library }
    let started = try PrivatePulseProcess(arguments, environment: environment, log: log)
    process = started
    for _ in 0..<2500 {
      if unixSocketAccepts(socketPath) { return monotonicNow() }
      usleep(2000)
    }
    stop()
    throw PrivatePulseError.notStarted("pulseaudio", log: PrivatePulseProcess.readText(log))
  }
}

/// Returns whether a process accepts connections on a Unix socket.
func unixSocketAccepts(_ path: String) -> Bool {
  let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
  guard descriptor >= 0 else { return false }
  defer { close(descriptor) }
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  let room = MemoryLayout.size(ofValue: address.sun_path)
  guard path.utf8.count < room else { return false }
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
    }
  }
}

private func monotonicNow() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
