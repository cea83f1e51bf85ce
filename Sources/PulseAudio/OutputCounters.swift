// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The numbers that the render path writes and any thread reads.
struct OutputCounters: ~Copyable {
  let framesWritten = Atomic<Int64>(0)
  /// CLOCK_MONOTONIC [ns] of the last write request; 0: none yet.
  let lastWrite = Atomic<Int64>(0)
  /// [ns]; negative: not reported yet.
  let latency = Atomic<Int64>(-1)
  let underruns = Atomic<Int>(0)
  let rewrites = Atomic<Int>(0)
  let lateRewrites = Atomic<Int>(0)
  let lostRewriteHeads = Atomic<Int>(0)
  let state = Atomic<UInt8>(AudioOutputState.idle.rawValue)
}
