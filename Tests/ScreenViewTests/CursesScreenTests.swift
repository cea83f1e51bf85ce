// SPDX-License-Identifier: Apache-2.0

import Glibc
import ScreenView
import TestSupport
import Testing

/// The terminal that ncurses draws on. ncurses keeps global state: there is only one screen.
@Suite(.serialized) struct CursesScreenTests {
  /// ncurses would ignore SIGTSTP during each update, and the kernel then discards a signal that
  /// waits for its receiver: Ctrl-Z would have no effect.
  @Test func drawingKeepsAPendingSuspension() throws {
    setenv("TERM", "xterm", 1)
    let terminal = try PseudoTerminal()
    let screen = try CursesScreen(terminal.far, usesColour: false)
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGTSTP)
    pthread_sigmask(SIG_BLOCK, &set, nil)
    pthread_kill(pthread_self(), SIGTSTP)
    screen.show { Canvas(columns: $0, rows: $1) }
    screen.show { Canvas(columns: $0, rows: $1) }
    screen.close()
    var pending = sigset_t()
    sigpending(&pending)
    #expect(sigismember(&pending, SIGTSTP) == 1)
    // Receive the signal, so that it does not stop the test.
    var noTime = timespec()
    sigtimedwait(&set, nil, &noTime)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    #expect(!terminal.written.isEmpty)
  }
}
