// SPDX-License-Identifier: Apache-2.0

/// The playback state of an output's stream.
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
  /// Whether the stream is open.
  package var isRunning = false
  /// The time at which playback last started or restarted.
  package var beginning: Int64 = 0
  /// Whether the server also requests audio during `drain`.
  private let isFedWhileDraining: Bool

  package init(wantsPause: Bool, isFedWhileDraining: Bool) {
    (self.wantsPause, self.isFedWhileDraining) = (wantsPause, isFedWhileDraining)
  }

  /// Whether the server is expected to request audio.
  package var isRequestDue: Bool {
    !wantsPause && !isDrained && !isSuspended && (isFedWhileDraining || !isDraining)
  }
}
