// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The state of a virtual sink that the data thread and the loop's thread share, in addition to
/// `PumpControl`.
struct FeedControl: ~Copyable {
  /// Whether the sound must fade out and stay silent.
  let isMuted = Atomic(false)
  /// Whether the sound has faded out.
  let isSilent = Atomic(false)
  /// The number of cycles that have begun on time since the last late or early cycle, or since
  /// `SinkMover` reset this counter.
  let steadyCycles = Atomic<Int64>(0)
}
