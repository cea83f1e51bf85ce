// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stddef.h>
#include <stdint.h>

/// What the calling thread did between start and stop.
struct operation_counts {
  int64_t allocations;
  int64_t frees;
  int64_t mutex_locks;
  int64_t objects;
  int64_t retains;
  int64_t releases;
};

/// Begins to count the operations of the calling thread, from zero.
void operation_counter_start(void);

/// Ends counting and returns what was counted.
struct operation_counts operation_counter_stop(void);

/// memalign, which Swift does not import.
void *operation_counter_memalign(size_t alignment, size_t size);
