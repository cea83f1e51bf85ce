// SPDX-License-Identifier: Apache-2.0

import Glibc
package import ScreenView

/// The full-screen view of the terminal. While it is open and stderr is a terminal, notes and
/// errors are held back. If Ctrl-Z stops the process, the view disappears until the process
/// continues.
///
/// Open it while a `Console` exists and shows nothing, and close it before the `Console` is
/// restored.
package final class FullScreen {
  private let screen: CursesScreen
  private var suspension: Int?

  /// The drawing characters for the user's character encoding: UTF-8 or ASCII.
  package var symbols: Symbols { screen.symbols }

  /// Opens the view.
  ///
  /// - Throws: a failure, with the remedy, if ncurses is missing, is too old or does not support
  ///   the terminal.
  package init() throws(CommandFailure) {
    do throws(CursesScreen.Failure) {
      screen = try CursesScreen(STDOUT_FILENO, usesColour: Self.usesColour)
    } catch { throw CommandFailure(error.text) }
    open()
  }

  deinit { close() }

  /// Whether the user wants colours (no-color.org).
  private static var usesColour: Bool {
    getenv("NO_COLOR").map { $0.pointee == 0 } ?? true
  }

  /// Starts to hold back notes and errors. The initialiser calls this. Call it again after `close`,
  /// before the next `show`. Has no effect on an open view.
  package func open() {
    guard suspension == nil else { return }
    HeldLines.begin()
    suspension = Suspension.add(
      Suspension.Actions(
        stop: { [screen] in screen.hold() }, resume: { [screen] in screen.release() }))
  }

  /// Shows what `draw` returns for the terminal's size.
  package func show(_ draw: (_ columns: Int, _ rows: Int) -> Canvas) { screen.show(draw) }

  /// Leaves the full-screen view, and prints the notes and errors that were held back.
  package func close() {
    if let suspension { Suspension.remove(suspension) }
    guard suspension != nil else { return }
    suspension = nil
    screen.close()
    HeldLines.end()
  }

  /// Restores the terminal, and prints the notes and errors that were held back. Call this just
  /// before the process ends.
  static func restoreTerminal() {
    CursesScreen.restoreCurrent()
    HeldLines.end()
  }
}

extension CursesScreen.Failure {
  /// The problem and the remedy.
  fileprivate var text: String {
    switch self {
    case .missing(let name):
      "the full-screen view needs ncurses (\(name) is missing); "
        + "install or update the package libncursesw6"
    case .unknownTerminal:
      "the full-screen view does not support this terminal "
        + "(TERM=\(getenv("TERM").map { String(cString: $0).withoutControls } ?? "")); "
        + "install the package ncurses-term, or set TERM to xterm"
    }
  }
}
