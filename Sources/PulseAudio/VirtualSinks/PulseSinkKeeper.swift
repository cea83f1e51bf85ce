// SPDX-License-Identifier: Apache-2.0

import Glibc
import SoundServer
import Synchronization
public import System

/// A child process that removes this process's virtual sinks when this process dies.
///
/// The child reads from a pipe whose other end this process holds. When that end is closed, the
/// child unloads the sinks' modules, unless `dismiss` has been called.
public final class PulseSinkKeeper: Sendable {
  private struct State {
    var child: ChildProcess?
    var pipe: SystemPipe?
    var fallback: String?
    var isDismissed = false
  }

  private let command: [String]
  private let serverAddress: String?
  private let state = Mutex(State())

  /// Starts the child process.
  ///
  /// - Parameters:
  ///   - command: the program and its first arguments. The program must pass the remaining
  ///     arguments to `run(arguments:)`.
  ///   - serverAddress: see `AudioOutputConfiguration.serverAddress`.
  /// - Throws: the system's error if the pipe cannot be created or the child process cannot be
  ///   started.
  public init(command: [String], serverAddress: String?) throws(SystemError) {
    (self.command, self.serverAddress) = (command, serverAddress)
    // A child that has died must not end this process through SIGPIPE.
    signal(SIGPIPE, SIG_IGN)
    try state.withLock { state throws(SystemError) in try start(&state) }
  }

  deinit { dismiss() }

  /// The process ID of the latest child, which may have died; nil after `dismiss` or if a new child
  /// could not be started.
  public var processID: Int32? { state.withLock { $0.child?.id } }

  /// Sets the sink that becomes the default sink if the child removes the default sink. Ignores a
  /// name with a line feed.
  public func setFallback(sinkName: String) {
    state.withLock { state in
      guard state.fallback != sinkName, !sinkName.contains("\n") else { return }
      state.fallback = sinkName
      send("default \(sinkName)\n", state)
    }
  }

  /// Tries to start a new child if the latest one has died or could not be started. Does nothing
  /// after `dismiss`.
  public func attend() {
    state.withLock { state in
      guard !state.isDismissed, state.child?.ending() != nil || state.child == nil else { return }
      state.child = nil
      try? start(&state)
    }
  }

  /// Ends the child without a clean-up.
  public func dismiss() {
    state.withLock { state in
      guard !state.isDismissed else { return }
      state.isDismissed = true
      send("done\n", state)
      state.pipe?.closeWriter()
      if let child = state.child, child.wait(seconds: 1) == nil { child.destroy() }
      state.child = nil
    }
  }

  private func start(_ state: inout State) throws(SystemError) {
    let pipe = try SystemPipe()
    var launch = ProgramLaunch(
      command + [SinkOwner.current.text] + [serverAddress].compactMap { $0 })
    launch.input = .descriptor(pipe.reader)
    (launch.output, launch.errors) = (.null, .null)
    // Signals to the process group or from the terminal do not reach a new session.
    launch.group = .session
    launch.resetsSignals = true
    launch.closesDescriptors = true
    state.child = try launch.start()
    pipe.closeReader()
    state.pipe = pipe
    if let fallback = state.fallback { send("default \(fallback)\n", state) }
  }

  private func send(_ line: String, _ state: State) {
    guard let writer = state.pipe?.writer, writer >= 0 else { return }
    _ = write(writer, line, line.utf8.count)
  }

  // MARK: The child

  /// Waits for the end of standard input and then cleans up. The line `default SINK` sets the
  /// fallback (see `setFallback`). The line `done` ends the wait without a clean-up.
  ///
  /// Returns the exit code: 0, or 1 if the owner is missing or the clean-up failed.
  ///
  /// - Parameter arguments: the owner of the sinks, and then the server's address unless the server
  ///   is the default one.
  public static func run(arguments: [String]) -> Int32 {
    for number in [SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGPIPE] { signal(number, SIG_IGN) }
    guard let owner = arguments.first else { return 1 }
    var fallback: String?
    while let line = readLine() {
      if line == "done" { return 0 }
      if line.hasPrefix("default ") { fallback = String(line.dropFirst("default ".count)) }
    }
    return clean(owner: SinkOwner(text: owner), address: arguments.dropFirst().first, fallback)
      ? 0 : 1
  }

  private static func clean(owner: SinkOwner, address: String?, _ fallback: String?) -> Bool {
    defer { (try? SinkFolder(in: nil))?.deleteOrphans() }
    do throws(SoundServerError) {
      let connection = try ClientConnection(
        serverAddress: address, applicationName: "Stillstage", timeoutMilliseconds: 5000)
      defer { connection.close() }
      try connection.loop.locked { () throws(SoundServerError) in
        try SinkCleaner(connection: connection).clean(fallback: fallback) { $1 == owner }
      }
      return true
    } catch { return false }
  }
}
