// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The requests and reports of a virtual sink that the data thread shares with the loop's thread,
/// in addition to `PumpControl`.
struct FeedControl: ~Copyable {
  /// Whether the sound must fade out and stay silent.
  let isMuted = Atomic(false)
  let isSilent = Atomic(false)
  /// The number of successive cycles without a gap.
  let steadyCycles = Atomic<Int64>(0)
}
