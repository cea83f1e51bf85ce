// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc

/// The user's terminal: reads single keys and shows status lines.
package final class Console {
  /// Whether stdout is a terminal that can replace lines in place, as the status lines require.
  package let isInteractive: Bool
  /// Whether there is a terminal to read keys from, and this process is in its foreground.
  package var readsKeys: Bool { terminal?.isInForeground ?? false }
  /// The width and the height of the terminal, in characters; 80 x 24 if they are unknown.
  package var size: (columns: Int, rows: Int) { display.size }

  private let terminal: KeyTerminal?
  private let display = TerminalDisplay(STDOUT_FILENO)
  private var decoder = KeyDecoder()
  private var suspension: Int?
  /// How long the rest of a key's bytes may take, in ms. Over a network, the bytes of an arrow key
  /// can arrive in two parts. The first part alone would be the Escape key.
  private static let completionMilliseconds: Int32 = 50

  /// Turns off the terminal's line buffering and echo while this process is in the foreground.
  package init() {
    isInteractive = canReplaceLines(STDOUT_FILENO)
    let (terminal, display) = (KeyTerminal(), display)
    self.terminal = terminal
    suspension = Suspension.add(
      Suspension.Actions(
        stop: {
          display.hold()
          terminal?.hold()
        },
        resume: {
          terminal?.release()
          display.release()
        }))
  }

  deinit { restore() }

  /// Restores the terminal's original settings permanently. Deinitialisation has the same effect.
  package func restore() {
    if let suspension { Suspension.remove(suspension) }
    suspension = nil
    terminal?.restore()
  }

  /// Leaves the full-screen view, and restores the terminal settings that a `Console` has changed.
  /// Call this just before the process ends.
  static func restoreTerminal() {
    FullScreen.restoreTerminal()
    KeyTerminal.restoreCurrent()
  }

  /// Waits for keys and returns them; empty if none arrive. The wait lasts at most
  /// `waitMilliseconds`. While a key is incomplete, this limit is raised to at least 50 ms.
  package func keys(waitMilliseconds: Int32) -> [Key] {
    guard let terminal else {
      usleep(UInt32(waitMilliseconds) * 1000)
      return []
    }
    let wait =
      decoder.isPending ? max(waitMilliseconds, Self.completionMilliseconds) : waitMilliseconds
    let bytes = terminal.read(waitMilliseconds: wait)
    guard !bytes.isEmpty else { return decoder.finish().map { [$0] } ?? [] }
    return decoder.keys(in: bytes)
  }

  /// Shows a line in place of the previous one, cut to the width of the terminal. Has no effect
  /// unless `isInteractive` is true.
  package func show(_ line: String) { show([line]) }

  /// Shows lines in place of the previous ones. Each line is cut to the width of the terminal. Has
  /// no effect unless `isInteractive` is true.
  package func show(_ lines: [String]) { if isInteractive { display.show(lines) } }

  /// Replaces the previous lines with `lines` and, below them, a line that is fitted to the width
  /// of the terminal. Has no effect unless `isInteractive` is true.
  package func show(_ line: FittedLine, below lines: [String] = []) {
    show(lines + [line.fitted(to: display.size.columns - 1)])
  }

  /// Clears the lines.
  package func clear() { display.clear() }
}
