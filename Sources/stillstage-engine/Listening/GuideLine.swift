// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Synchronization

/// Guides the listener with a line on the terminal, and reads the key `q`.
///
/// ## Threading
/// Any thread may use any member.
final class GuideLine: Sendable {
  private let console = Mutex(Console())

  var readsKeys: Bool { console.withLock { $0.readsKeys } }

  /// Shows a line in place of the previous one. Has no effect without a terminal.
  func show(_ text: String) {
    console.withLock { $0.show(FittedLine([LinePart(text, rank: 0)])) }
  }

  func clear() { console.withLock { $0.clear() } }

  /// Clears the line and restores the terminal.
  func end() {
    console.withLock { console in
      console.clear()
      console.restore()
    }
  }

  /// Waits for keys, as `Console.keys(waitMilliseconds:)` does. Returns whether `q` was pressed.
  func wantsToEnd(waitMilliseconds: Int32) -> Bool {
    console.withLock { $0.keys(waitMilliseconds: waitMilliseconds).contains(.quit) }
  }
}
