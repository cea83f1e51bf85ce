// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// The files of `sink` in the runtime folder.
package enum SinkFiles {
  package static let socket = "sink.sock"
  package static let lock = "sink.lock"
  package static let state = "sink.json"

  /// Removes the socket and the state of an instance that has ended.
  package static func removeLeftovers(in folder: RuntimeFolder) {
    for name in [socket, state] { unlink(folder.file(name)) }
  }
}

/// The state that is needed to restore the default sink after a crash of `sink`.
package struct SinkState: Sendable, Equatable, Codable {
  /// The ID of the process that changed the default sink.
  package var pid: Int32
  /// The name of the real sink to restore as the default.
  package var defaultSink: String

  package init(pid: Int32, defaultSink: String) {
    (self.pid, self.defaultSink) = (pid, defaultSink)
  }

  /// Reads the state in a folder; nil if the file is missing or invalid.
  package static func read(in folder: RuntimeFolder) -> SinkState? {
    guard let data = try? Data(contentsOf: URL(filePath: folder.file(SinkFiles.state))) else {
      return nil
    }
    return try? JSONDecoder().decode(SinkState.self, from: data)
  }

  /// Writes a state; nil removes the file. If writing fails, prints a note.
  package static func write(_ state: SinkState?, in folder: RuntimeFolder) {
    let path = folder.file(SinkFiles.state)
    guard let state else {
      unlink(path)
      return
    }
    do throws(CommandFailure) {
      try TextOutput(path: path).write(jsonLine(state) + "\n", mode: 0o600)
    } catch { printNote(error.message ?? "cannot write \(path)") }
  }
}
