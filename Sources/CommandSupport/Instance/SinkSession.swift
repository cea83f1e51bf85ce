// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
package import Playback
import SoundServer

/// A run of `stillstage sink`. At most one instance can run per runtime folder.
package struct SinkSession {
  private let folder: RuntimeFolder
  private var settings: SystemWideOutput.Settings
  private let isQuiet: Bool

  /// Creates a session without starting it.
  ///
  /// - Parameter isQuiet: whether to suppress the notes and the status line.
  package init(
    in folder: RuntimeFolder, settings: SystemWideOutput.Settings, isQuiet: Bool = false
  ) {
    (self.folder, self.settings, self.isQuiet) = (folder, settings, isQuiet)
  }

  /// Runs until the user presses q, a signal arrives or `isEnding` returns true.
  ///
  /// - Parameter makeParts: prepares the renderers and the functions that make the virtual sinks.
  ///   It is called only if no other instance is running.
  /// - Throws: a failure if the instance cannot start; `interrupted` after a signal.
  package func run(
    on console: Console, until isEnding: () -> Bool = { false },
    makeParts: () throws(CommandFailure) -> SystemWideParts
  ) throws(CommandFailure) {
    try folder.create()
    let lock = try Self.lock(in: folder)
    defer { withExtendedLifetime(lock) {} }
    let parts = try during("preparing the virtual sinks") { () throws(CommandFailure) in
      try makeParts()
    }
    defer { parts.stage.stop() }
    during("removing old virtual sinks") { parts.removeLeftovers() }
    let log = SinkLog()
    let output = SystemWideOutput(parts, settings: filled) { log.add($0) }
    do throws(SoundServerError) {
      try during("connecting to the sound server") { () throws(SoundServerError) in
        try output.start()
      }
    } catch {
      throw CommandFailure(error.message)
    }
    defer { output.stop() }
    let server = try ControlServer(in: folder, name: SinkFiles.socket) { line in
      Self.answer(line, output, parts).line
    }
    defer { server.stop() }
    follow(output, parts, log, on: console, until: isEnding)
    server.stop()
    output.stop()
    if Signals.received != nil { throw .interrupted }
  }

  /// Takes the lock that only one instance can hold.
  ///
  /// - Throws: a failure if another instance is running, or if the lock file cannot be used.
  package static func lock(in folder: RuntimeFolder) throws(CommandFailure) -> InstanceLock {
    do throws(InstanceLock.Failure) {
      return try InstanceLock(path: folder.file(SinkFiles.lock))
    } catch {
      switch error {
      case .held(let pid):
        throw CommandFailure(
          "a system-wide output is already running" + (pid.map { " (pid \($0))" } ?? "")
            + "; query or control it with --status, --recentre or --mode, or end it first")
      case .system(let reason):
        throw CommandFailure(
          "cannot lock \(folder.file(SinkFiles.lock)): \(reason); "
            + "check the permissions of the folder, or free some space")
      }
    }
  }

  /// The settings, completed with the default sink that an earlier instance did not restore, and
  /// with a function that stores which default sink to restore.
  private var filled: SystemWideOutput.Settings {
    var settings = settings
    settings.previousDefault = SinkState.read(in: folder)?.defaultSink
    settings.remember = { [folder] name in
      SinkState.write(name.map { SinkState(pid: getpid(), defaultSink: $0) }, in: folder)
    }
    return settings
  }

  private static func answer(
    _ line: String, _ output: SystemWideOutput, _ parts: SystemWideParts
  ) -> ControlAnswer {
    switch ControlRequest(line: line) {
    case .status: return .status(SinkRecord(output.status, parts))
    case .recentre: parts.stage.recentre()
    case .mode(let mode): parts.stage.mode = mode
    case nil:
      return .error(
        #"the request is unknown; send {"request":"status"}, {"request":"recentre"} or "#
          + #"{"mode":"fixed","request":"mode"}"#)
    }
    return .done
  }

  private func follow(
    _ output: SystemWideOutput, _ parts: SystemWideParts, _ log: SinkLog, on console: Console,
    until isEnding: () -> Bool
  ) {
    defer {
      console.clear()
      console.restore()
    }
    let isLive = console.isInteractive || console.readsKeys
    SignalDeadline.allow(milliseconds: 1500)
    while Signals.received == nil, !isEnding() {
      for key in console.keys(waitMilliseconds: isLive ? 100 : 200) {
        switch key {
        case .recenter: parts.stage.recentre()
        case .mode: parts.stage.mode = parts.stage.mode.next
        case .quit: return
        default: break
        }
      }
      let notes = log.take(now: monotonic_nanoseconds()) + parts.stage.takeNotes()
      if !isQuiet, !notes.isEmpty {
        console.clear()
        for note in notes { printNote(note) }
      }
      if console.isInteractive, !isQuiet {
        console.show(SinkText.line(SinkRecord(output.status, parts)))
      }
    }
  }
}
