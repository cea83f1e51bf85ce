// SPDX-License-Identifier: Apache-2.0

import CAllocationCounter

/// What one thread did in a section of code.
struct OperationCounts: Equatable {
  var allocations = 0
  var frees = 0
  var mutexLocks = 0
  var objects = 0
  var retains = 0
  var releases = 0
}

/// Runs the body and counts its operations on this thread.
func countingOperations(_ body: () -> Void) -> OperationCounts {
  operation_counter_start()
  body()
  let counts = operation_counter_stop()
  return OperationCounts(
    allocations: Int(counts.allocations), frees: Int(counts.frees),
    mutexLocks: Int(counts.mutex_locks), objects: Int(counts.objects),
    retains: Int(counts.retains), releases: Int(counts.releases))
}
