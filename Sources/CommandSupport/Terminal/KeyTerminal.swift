// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The terminal that supplies single keys: standard input or, if that is not a terminal, the
/// controlling terminal of the process.
///
/// ## Threading
/// Any thread may use any member.
final class KeyTerminal: Sendable {
  private struct State {
    /// The settings to restore; nil before the first change.
    var original: termios?
    /// Whether this object has changed the settings and has not restored them since.
    var isSet = false
    var isHeld = false
  }

  private let descriptor: Int32
  private let isOwned: Bool
  private let state = Mutex(State())
  /// The terminal that `restoreCurrent` restores; nil if there is none.
  private static let current = Mutex<KeyTerminal?>(nil)

  /// Finds the terminal and calls `take`. Returns nil if there is no terminal.
  init?() {
    if isTerminal(STDIN_FILENO) {
      (descriptor, isOwned) = (STDIN_FILENO, false)
    } else {
      let opened = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
      guard opened >= 0 else { return nil }
      (descriptor, isOwned) = (opened, true)
    }
    Self.current.withLock { $0 = self }
    take()
  }

  deinit { if isOwned { close(descriptor) } }

  /// Whether this process is in the foreground. Only then does it receive the keys.
  var isInForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

  /// Turns off line buffering and echo if the process is in the foreground. Has no effect between
  /// `hold` and `release`.
  func take() {
    state.withLock { state in
      guard !state.isHeld, !state.isSet, isInForeground else { return }
      var mode = termios()
      guard tcgetattr(descriptor, &mode) == 0 else { return }
      state.original = mode
      set(&state)
    }
  }

  private func set(_ state: inout State) {
    guard var mode = state.original else { return }
    mode.c_lflag &= ~UInt32(ICANON | ECHO)
    state.isSet = tcsetattr(descriptor, TCSANOW, &mode) == 0
  }

  /// Restores the settings until `release`. Call this before the process stops.
  func hold() {
    state.withLock { state in
      restore(&state)
      state.isHeld = true
    }
  }

  /// Changes the settings again if the process is in the foreground. Call this after the process
  /// has continued.
  func release() {
    state.withLock { state in
      state.isHeld = false
      // If SIGSTOP stopped the process without a call of `hold`, the shell may have changed the
      // settings.
      if state.isSet, isInForeground { set(&state) }
    }
    take()
  }

  /// Restores the settings permanently.
  func restore() {
    hold()
    Self.current.withLock { if $0 === self { $0 = nil } }
  }

  private func restore(_ state: inout State) {
    // A change from the background would stop this process.
    guard state.isSet, var mode = state.original, isInForeground else { return }
    tcsetattr(descriptor, TCSANOW, &mode)
    state.isSet = false
  }

  /// Restores the settings that a `KeyTerminal` has changed. Call this just before the process
  /// ends.
  static func restoreCurrent() { current.withLock { $0 }?.hold() }

  /// Waits at most `waitMilliseconds` for bytes and returns them; empty if none arrive.
  func read(waitMilliseconds: Int32) -> ArraySlice<UInt8> {
    take()
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    // A read in the background would stop this process.
    guard isInForeground else {
      usleep(UInt32(waitMilliseconds) * 1000)
      return []
    }
    guard poll(&request, 1, waitMilliseconds) > 0, isInForeground else { return [] }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    guard count > 0 else {
      usleep(UInt32(waitMilliseconds) * 1000)
      return []
    }
    return bytes[..<count]
  }
}
