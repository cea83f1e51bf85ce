// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The user's terminal: reads single keys and shows a status line.
package final class Console {
  package enum Key: Equatable {
    case pause
    case back
    case forward
    case louder
    case softer
    case recenter
    case mode
    /// The next decoder design.
    case decoder
    /// The next HRTF set.
    case hrtf
    /// The ambisonic order of the bus.
    case order(Int)
    /// The next style of the Audio Mix.
    case mixStyle
    case lessMix
    case moreMix
    case quit
    /// The next input of a recording.
    case next
    case plus
    case minus
    case enter
  }

  /// Whether stdout is a terminal, which the status line needs.
  package let isInteractive = isTerminal(STDOUT_FILENO)
  /// Whether keys are read.
  package var readsKeys: Bool { saved != nil }
  private var saved: termios?
  private var isShown = false
  /// The settings to restore when the process ends.
  private static let original = Mutex<termios?>(nil)

  /// Turns off line input and echo if stdin is a terminal and this process is in the foreground.
  package init() {
    guard isTerminal(STDIN_FILENO), tcgetpgrp(STDIN_FILENO) == getpgrp() else { return }
    var mode = termios()
    guard tcgetattr(STDIN_FILENO, &mode) == 0 else { return }
    saved = mode
    Self.original.withLock { [mode] in $0 = mode }
    mode.c_lflag &= ~UInt32(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &mode)
  }

  deinit { restore() }

  /// Restores the terminal mode.
  package func restore() {
    guard var mode = saved else { return }
    tcsetattr(STDIN_FILENO, TCSANOW, &mode)
    saved = nil
    Self.original.withLock { $0 = nil }
  }

  /// Restores the terminal mode that a console has changed. Call this just before the process ends.
  static func restoreTerminal() {
    guard var mode = original.withLock({ $0 }) else { return }
    tcsetattr(STDIN_FILENO, TCSANOW, &mode)
  }

  /// Waits at most `waitMilliseconds` for keys and returns them; empty if there are none.
  package func keys(waitMilliseconds: Int32) -> [Key] {
    guard saved != nil else {
      usleep(UInt32(waitMilliseconds) * 1000)
      return []
    }
    var request = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard poll(&request, 1, waitMilliseconds) > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(STDIN_FILENO, &bytes, bytes.count)
    guard count > 0 else {
      usleep(UInt32(waitMilliseconds) * 1000)
      return []
    }
    return Self.keys(in: bytes[..<count])
  }

  static func keys(in bytes: ArraySlice<UInt8>) -> [Key] {
    var keys: [Key] = []
    var rest = bytes
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "p"): keys.append(.pause)
      case UInt8(ascii: "c"): keys.append(.recenter)
      case UInt8(ascii: "t"): keys.append(.mode)
      case UInt8(ascii: "d"): keys.append(.decoder)
      case UInt8(ascii: "h"): keys.append(.hrtf)
      case UInt8(ascii: "1")...UInt8(ascii: "7"):
        keys.append(.order(Int(byte - UInt8(ascii: "0"))))
      case UInt8(ascii: "x"): keys.append(.mixStyle)
      case UInt8(ascii: ","): keys.append(.lessMix)
      case UInt8(ascii: "."): keys.append(.moreMix)
      case UInt8(ascii: "q"): keys.append(.quit)
      case UInt8(ascii: "n"): keys.append(.next)
      case UInt8(ascii: "+"), UInt8(ascii: "="): keys.append(.plus)
      case UInt8(ascii: "-"): keys.append(.minus)
      case UInt8(ascii: "\r"), UInt8(ascii: "\n"): keys.append(.enter)
      case 0x1B:
        // An arrow key sends ESC, then [ or O, then a letter.
        guard let lead = rest.popFirst(), lead == UInt8(ascii: "[") || lead == UInt8(ascii: "O"),
          let letter = rest.popFirst()
        else { continue }
        switch letter {
        case UInt8(ascii: "A"): keys.append(.louder)
        case UInt8(ascii: "B"): keys.append(.softer)
        case UInt8(ascii: "C"): keys.append(.forward)
        case UInt8(ascii: "D"): keys.append(.back)
        default: break
        }
      default: break
      }
    }
    return keys
  }

  /// Shows a line in place of the previous one, cut to the width of the terminal. Has no effect if
  /// stdout is not a terminal.
  package func show(_ line: String) {
    guard isInteractive else { return }
    var size = winsize()
    let width =
      ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    isShown = true
    write("\r\(line.prefix(width - 1))\u{1B}[K", to: STDOUT_FILENO)
  }

  /// Clears the status line.
  package func clear() {
    guard isShown else { return }
    isShown = false
    write("\r\u{1B}[K", to: STDOUT_FILENO)
  }
}
