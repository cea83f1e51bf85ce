// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Counts of the calling thread's operations between start and stop.
struct operation_counts {
  int64_t allocations;
  /// The size of the largest allocation, in bytes.
  int64_t largest_allocation;
  int64_t frees;
  int64_t mutex_locks;
  int64_t objects;
  int64_t retains;
  int64_t releases;
};

/// Starts counting the operations of the calling thread, from zero.
void operation_counter_start(void);

/// Stops counting and returns the counts.
struct operation_counts operation_counter_stop(void);

/// Calls memalign, which Swift does not import.
void *operation_counter_memalign(size_t alignment, size_t size);
