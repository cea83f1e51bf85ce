// SPDX-License-Identifier: Apache-2.0

import Glibc
import ScreenView

/// Prints an error to stderr. Replaces control characters, and shortens a very long text.
package func printError(_ message: String) { printLine(shortened(printable(message))) }

/// Prints `note:` and a text to stderr, in the same way as `printError`.
package func printNote(_ message: String) { printLine("note: \(shortened(printable(message)))") }

/// Prints a line to stderr. On a terminal, a line that is too long is divided at spaces. If stderr
/// is a terminal and a full-screen view is open, the line is held until the view closes.
private func printLine(_ text: String) {
  let line = "stillstage: \(text)\n"
  if !HeldLines.hold(text, line) { write(wrappedForTerminal(line), to: STDERR_FILENO) }
}

/// Prints a line to stdout. On a terminal, a line that is too long is divided at spaces.
///
/// - Parameter indent: the number of spaces at the beginning of every line but the first.
package func printParagraph(_ text: String, indent: Int) {
  write(wrappedForTerminal(text + "\n", STDOUT_FILENO, indent: indent), to: STDOUT_FILENO)
}

/// Divides a line at spaces if it is too long for the terminal that `descriptor` refers to. `line`
/// must end with a line feed.
func wrappedForTerminal(
  _ line: String, _ descriptor: Int32 = STDERR_FILENO, indent: Int = 0
) -> String {
  var size = winsize()
  guard isTerminal(descriptor), ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 1
  else { return line }
  let lines = TextWidth.wrapped(String(line.dropLast()), Int(size.ws_col) - 1, indent: indent)
  return lines.joined(separator: "\n") + "\n"
}

/// Returns `text` with U+FFFD in place of control characters, line separators and paragraph
/// separators.
package func printable(_ text: String) -> String {
  let scalars = text.unicodeScalars.map { scalar in
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: "\u{FFFD}" as Unicode.Scalar
    default: scalar
    }
  }
  return String(String.UnicodeScalarView(scalars))
}

/// Returns `text`, with its middle replaced by ` ... ` if it has more than 3000 characters. A
/// message is that long only if it quotes input, such as a path in config.json.
package func shortened(_ text: String) -> String {
  guard text.count > 3000 else { return text }
  return "\(text.prefix(1500)) ... \(text.suffix(1000))"
}

/// Calls `write`. Use this function in a type that has its own method `write`.
@discardableResult
package func writeText(_ text: String, to descriptor: Int32) -> Bool { write(text, to: descriptor) }

/// Writes all of a text to a descriptor. Returns false if writing fails.
@discardableResult
package func write(_ text: String, to descriptor: Int32) -> Bool {
  var bytes = Array(text.utf8)[...]
  while !bytes.isEmpty {
    let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if count < 0 && errno == EINTR { continue }
    guard count > 0 else { return false }
    bytes = bytes.dropFirst(count)
  }
  return true
}

package func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

/// Returns whether a descriptor refers to a terminal on which lines can be replaced. Returns false
/// if TERM is "dumb".
package func canReplaceLines(_ descriptor: Int32) -> Bool {
  isTerminal(descriptor) && getenv("TERM").map { String(cString: $0) } != "dumb"
}
