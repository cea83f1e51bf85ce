// SPDX-License-Identifier: Apache-2.0

/// What an output's stream should do, and what may keep it from playing.
///
/// Times are CLOCK_MONOTONIC nanoseconds.
package struct OutputFlow {
  package var wantsPause: Bool
  package var pausedSince: Int64 = 0
  package var isDraining = false
  package var isDrained = false
  package var isSuspended = false
  /// Whether the server has stopped working although the connection is intact.
  package var isFrozen = false
  /// Whether the stream is open, as opposed to being opened or lost.
  package var isRunning = false
  /// When playback last started or restarted. The first requests may be late.
  package var beginning: Int64 = 0
  /// Whether the server requests audio during `drain`, too.
  private let isFedWhileDraining: Bool

  package init(wantsPause: Bool, isFedWhileDraining: Bool) {
    (self.wantsPause, self.isFedWhileDraining) = (wantsPause, isFedWhileDraining)
  }

  /// Whether the server is expected to request audio.
  package var isRequestDue: Bool {
    !wantsPause && !isDrained && !isSuspended && (isFedWhileDraining || !isDraining)
  }
}
