// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The requests and reports that the data thread shares with the loop's thread, in addition to
/// those of `PumpControl`.
struct FeedControl: ~Copyable {
  /// Whether the sound must fade out and stay silent.
  let isMuted = Atomic(false)
  /// Whether the sound has faded out.
  let isSilent = Atomic(false)
  /// The number of successive cycles that each began when the previous cycle ended.
  let steadyCycles = Atomic<Int64>(0)
}
