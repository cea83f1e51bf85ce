// SPDX-License-Identifier: Apache-2.0

private import CCurses
private import Glibc
private import Synchronization

/// Draws a canvas that fills the terminal, using libncursesw.
///
/// Create at most one screen in a process. The initialiser loads the library. This class does not
/// read keys, and it prevents ncurses from changing signal handlers.
///
/// ## Threading
/// Any thread may use any member.
package final class CursesScreen: Sendable {
  /// Why the terminal cannot be used as a screen.
  package enum Failure: Error, Sendable, Equatable {
    /// The library or one of its functions is missing. The value is the name of what is missing.
    case missing(String)
    /// ncurses does not support the type of the terminal, or cannot open the terminal.
    case unknownTerminal
  }

  private struct State: @unchecked Sendable {
    var library = curses_library()
    var window: OpaquePointer?
    var size: (columns: Int, rows: Int) = (0, 0)
    /// What the terminal shows; nil if unknown.
    var shown: Canvas?
    var isOpen = false
    var isHeld = false
    var hasColours = false
    var wasInForeground = false
  }

  /// The drawing characters for the user's character encoding: UTF-8 or ASCII.
  package let symbols: Symbols
  private let descriptor: Int32
  private let state = Mutex(State())
  /// The process's screen; nil until one has been opened. There can be only one, because ncurses
  /// keeps its state in global variables.
  private static let current = Mutex<CursesScreen?>(nil)

  /// Opens the terminal that a file descriptor refers to.
  ///
  /// - Parameter usesColour: whether to use colours if the terminal has them.
  package init(_ descriptor: Int32, usesColour: Bool) throws(Failure) {
    self.descriptor = descriptor
    var library = curses_library()
    if let missing = curses_load(&library) { throw .missing(String(cString: missing)) }
    symbols = curses_adopt_utf8() ? .utf8 : .ascii
    guard curses_open(&library, descriptor) != nil else { throw .unknownTerminal }
    state.withLock { state in
      state.library = library
      state.isOpen = true
      state.hasColours = usesColour && library.has_colors()
      if state.hasColours { Self.makeColours(library) }
      _ = library.curs_set(0)
      _ = library.typeahead(-1)
    }
    Self.current.withLock { $0 = self }
  }

  /// Whether the screen is open. It stays open while it is held.
  package var isOpen: Bool { state.withLock { $0.isOpen } }

  /// The size of the terminal in characters; nil if it is unknown.
  private var terminalSize: (columns: Int, rows: Int)? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
      return nil
    }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Shows what `draw` returns for the terminal's size; only the changes are sent. Opens the screen
  /// again after `close`. Has no effect while the screen is held, or while the process is in the
  /// background after it was in the foreground.
  package func show(_ draw: (_ columns: Int, _ rows: Int) -> Canvas) {
    state.withLock { state in
      guard !state.isHeld, isOurs(&state) else { return }
      let size = terminalSize ?? (80, 24)
      if state.window == nil || size != state.size { adopt(size, &state) }
      let canvas = draw(size.columns, size.rows)
      write(canvas, &state)
      state.isOpen = true
    }
  }

  /// Leaves the full-screen view: the terminal shows its previous lines again.
  package func close() {
    state.withLock { state in
      end(&state)
      state.isOpen = false
    }
  }

  /// Leaves the full-screen view until `release`.
  package func hold() {
    state.withLock { state in
      end(&state)
      state.isHeld = true
    }
  }

  /// Ends `hold`. The next `show` draws everything, because another program may have changed the
  /// terminal in the meantime.
  package func release() {
    state.withLock { state in
      // If the process was stopped without `hold`, the shell has changed the terminal's settings.
      // After `endwin`, the next drawing restores the settings of ncurses.
      if !state.isHeld { end(&state) }
      state.isHeld = false
      state.shown = nil
    }
  }

  /// Restores the terminal just before the process ends, even if a thread is drawing.
  package static func restoreCurrent() {
    guard let screen = current.withLock({ $0 }) else { return }
    let isDone: Bool? = screen.state.withLockIfAvailable { state in
      screen.end(&state)
      state.isHeld = true
      return true
    }
    guard isDone == nil else { return }
    // Leave the alternate screen, show the cursor and reset the colours (xterm's sequences).
    let text = "\u{1B}[?1049l\u{1B}[?25h\u{1B}[0m\r\n"
    _ = fcntl(screen.descriptor, F_SETFL, O_NONBLOCK)
    _ = Glibc.write(screen.descriptor, text, text.utf8.count)
  }

  private func end(_ state: inout State) {
    guard state.isOpen, !state.isHeld, isOurs(&state) else { return }
    _ = state.library.endwin()
    state.shown = nil
  }

  /// Returns whether this process may change the terminal: it is in the foreground, or has never
  /// been there. After a move to the background, a change would stop the process (SIGTTOU).
  private func isOurs(_ state: inout State) -> Bool {
    let isInForeground = tcgetpgrp(descriptor) == getpgrp()
    if isInForeground { state.wasInForeground = true }
    return isInForeground || !state.wasInForeground
  }

  /// Replaces the ncurses window with one of the given size.
  private func adopt(_ size: (columns: Int, rows: Int), _ state: inout State) {
    if let window = state.window { _ = state.library.delwin(window) }
    _ = state.library.resizeterm(Int32(size.rows), Int32(size.columns))
    state.window = state.library.newwin(Int32(size.rows), Int32(size.columns), 0, 0)
    if let window = state.window {
      // Do not let ncurses insert or delete characters: the rest of the row would flicker.
      state.library.idcok(window, false)
      _ = state.library.leaveok(window, true)
    }
    (state.size, state.shown) = (size, nil)
  }

  private func write(_ canvas: Canvas, _ state: inout State) {
    guard let window = state.window else { return }
    let library = state.library
    let isWhole = state.shown == nil
    if isWhole {
      _ = library.clearok(window, true)
      _ = library.werase(window)
    }
    for row in 0..<canvas.rows {
      if let shown = state.shown, shown.rowsAreEqual(canvas, row) { continue }
      for run in canvas.runs(row) {
        _ = library.wmove(window, Int32(row), Int32(run.column))
        let look = Self.look(run.style, colours: state.hasColours)
        _ = library.wattr_set(window, look.attributes, look.pair, nil)
        _ = library.waddnstr(window, run.text, -1)
      }
    }
    _ = library.wrefresh(window)
    state.shown = canvas
  }

  // MARK: Colours

  private static func makeColours(_ library: curses_library) {
    _ = library.start_color()
    let hasDefault = library.use_default_colors() == 0
    for style in CellStyle.allCases {
      if let colour = colour(style) {
        _ = library.init_pair(Int16(style.rawValue), colour, hasDefault ? -1 : 0)
      }
    }
  }

  /// Returns the number of a style's colour in ncurses; nil for the terminal's default colour.
  private static func colour(_ style: CellStyle) -> Int16? {
    switch style {
    case .plain, .strong, .faint: nil
    case .head: 6
    case .source: 4
    case .good: 2
    case .warning, .message: 3
    case .alarm: 1
    }
  }

  private static func look(
    _ style: CellStyle, colours: Bool
  ) -> (attributes: UInt32, pair: Int16) {
    let (reverse, dim, bold): (UInt32, UInt32, UInt32) = (1 << 18, 1 << 20, 1 << 21)
    let attributes: UInt32 =
      switch style {
      case .plain, .good, .warning: 0
      case .faint: dim
      case .strong, .head, .source, .alarm: bold
      case .message: bold | reverse
      }
    return (attributes, colours && colour(style) != nil ? Int16(style.rawValue) : 0)
  }
}

extension Canvas {
  /// Adjacent characters of a row that have the same style.
  struct Run: Equatable {
    var column: Int
    var style: CellStyle
    var text: String
  }

  /// Returns the text of a row, divided where the style changes.
  func runs(_ row: Int) -> [Run] {
    var runs: [Run] = []
    for column in 0..<columns {
      let cell = self[row, column]
      guard let scalar = cell.scalar else { continue }
      if runs.last?.style != cell.style {
        runs.append(Run(column: column, style: cell.style, text: ""))
      }
      runs[runs.count - 1].text.unicodeScalars.append(scalar)
    }
    return runs
  }

  func rowsAreEqual(_ other: Canvas, _ row: Int) -> Bool {
    guard columns == other.columns, row < rows, row < other.rows else { return false }
    for column in 0..<columns where self[row, column] != other[row, column] { return false }
    return true
  }
}
