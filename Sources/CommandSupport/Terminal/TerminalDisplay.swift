// SPDX-License-Identifier: Apache-2.0

import Glibc
import ScreenView
import Synchronization

/// Shows lines below the earlier output of a terminal and replaces them in place.
///
/// ## Threading
/// Any thread may use any member.
final class TerminalDisplay: Sendable {
  private struct State {
    /// The width of each line that is shown, in columns.
    var widths: [Int] = []
    var isHeld = false
    /// Whether this process has ever been in the foreground.
    var wasInForeground = false
  }

  private let descriptor: Int32
  private let state = Mutex(State())

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// The width and the height of the terminal, in characters; 80 x 24 if they are unknown.
  var size: (columns: Int, rows: Int) { Self.size(of: descriptor) }

  static func size(of descriptor: Int32) -> (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
    return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
  }

  /// Shows lines in place of the previous ones. At least one row of the terminal stays free: if
  /// there are too many lines, only the last ones are shown. Each line is cut to the width, so that
  /// it does not wrap. Has no effect while the display is held, or while this process is in the
  /// background after it has been in the foreground.
  func show(_ lines: [String]) {
    let (columns, rows) = size
    let shown = lines.suffix(max(1, rows - 1)).map { TextWidth.prefix($0, max(1, columns - 1)) }
    state.withLock { state in
      guard !state.isHeld, isOurs(&state) else { return }
      var text = Self.start(of: state.widths, columns: columns)
      text += shown.joined(separator: "\u{1B}[K\r\n") + "\u{1B}[J"
      state.widths = shown.map { TextWidth.of($0) }
      write(text, to: descriptor)
    }
  }

  /// Removes the lines.
  func clear() { state.withLock { clear(&$0) } }

  /// Removes the lines, and shows nothing until `release`.
  func hold() {
    state.withLock { state in
      clear(&state)
      state.isHeld = true
    }
  }

  func release() { state.withLock { $0.isHeld = false } }

  private func clear(_ state: inout State) {
    guard !state.widths.isEmpty else { return }
    write(Self.start(of: state.widths, columns: size.columns) + "\u{1B}[J", to: descriptor)
    state.widths = []
  }

  /// Returns the control codes that move the cursor to the start of the first displayed line. A
  /// line that is longer than `columns`, because the terminal has become narrower, counts as
  /// several rows.
  private static func start(of widths: [Int], columns: Int) -> String {
    let above = widths.reduce(0) { $0 + max(0, $1 - 1) / max(1, columns) + 1 } - 1
    return above > 0 ? "\r\u{1B}[\(above)A" : "\r"
  }

  /// Returns false if this process has been in the foreground and is now in the background. A
  /// process that was never in the foreground, such as one started by `timeout`, may show its
  /// lines.
  private func isOurs(_ state: inout State) -> Bool {
    let isInForeground = tcgetpgrp(descriptor) == getpgrp()
    if isInForeground { state.wasInForeground = true }
    return isInForeground || !state.wasInForeground
  }
}
