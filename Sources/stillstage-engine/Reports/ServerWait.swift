// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import CommandSupport
import Glibc
import HLS
import Synchronization

/// Shows which server a request of this process is waiting for.
enum ServerWait {
  private struct State {
    var wait: FetchWait?
    /// Whether a status line names the server, so that no separate line is needed.
    var isInStatusLine = false
  }
  private static let state = Mutex(State())

  /// The wait to show; nil if there is none.
  static var current: FetchWait? { state.withLock { $0.wait } }

  /// Stops showing a separate line, because a status line names the server from now on.
  static func moveToStatusLine() {
    state.withLock { state in
      if state.wait != nil { clear() }
      state.isInStatusLine = true
    }
  }

  /// Returns the limit that `--timeout` sets, with a function that shows waits.
  static func patience(_ command: ParsedCommand) -> NetworkPatience {
    let limit = command[Options.timeout]
    return NetworkPatience(seconds: limit) { wait in show(wait, limit: limit) }
  }

  private static func show(_ wait: FetchWait?, limit: Double) {
    state.withLock { state in
      let isNew = wait.map { Int($0.seconds) } != state.wait.map { Int($0.seconds) }
      state.wait = wait
      guard isNew, !state.isInStatusLine, canReplaceLines(STDERR_FILENO) else { return }
      guard let wait else { return clear() }
      writeText("\r\(text(wait, limit: limit))\u{1B}[K", to: STDERR_FILENO)
    }
  }

  /// Returns the text of the line, such as "waiting for example.org: 0 kB after 12 s (gives up
  /// after 30 s below 100 bytes/s)".
  static func text(_ wait: FetchWait, limit: Double) -> String {
    "waiting for \(wait.host.withoutControls): \(wait.bytes / 1000) kB after "
      + "\(Int(wait.seconds)) s (gives up after \(Int(limit)) s below "
      + "\(Int(TransferPace.least)) bytes/s)"
  }

  private static func clear() {
    if canReplaceLines(STDERR_FILENO) { writeText("\r\u{1B}[K", to: STDERR_FILENO) }
  }
}
