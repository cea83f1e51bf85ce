// SPDX-License-Identifier: Apache-2.0
// Counts the operations of all threads in the real-time sections that CRealtime marks, in place of
// RealtimeSanitizer, and prints the sums when the process ends. Tests/link-variant links it into a
// program.
#include <allocation_counter.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Must equal the declaration in CRealtime.
struct realtime_totals {
  int64_t sections;
  int64_t allocations;
  int64_t frees;
  int64_t locks;
  int64_t retains;
  int64_t releases;
};

static _Thread_local int depth;
static _Atomic int64_t sections, allocations, frees, locks, retains, releases;

void __rtsan_realtime_enter(void) {
  if (depth++ == 0) operation_counter_start();
}

void __rtsan_realtime_exit(void) {
  if (--depth > 0) return;
  const struct operation_counts counts = operation_counter_stop();
  atomic_fetch_add(&sections, 1);
  atomic_fetch_add(&allocations, counts.allocations);
  atomic_fetch_add(&frees, counts.frees);
  atomic_fetch_add(&locks, counts.mutex_locks);
  atomic_fetch_add(&retains, counts.retains);
  atomic_fetch_add(&releases, counts.releases);
}

void stillstage_count_realtime(struct realtime_totals *totals) {
  *totals = (struct realtime_totals){
      atomic_load(&sections), atomic_load(&allocations), atomic_load(&frees),
      atomic_load(&locks),    atomic_load(&retains),     atomic_load(&releases)};
}

extern void *swift_retain(void *object);
extern void swift_release(void *object);

// A broken counter would always report 0, so each counter must detect an operation of its own kind.
__attribute__((constructor)) static void prove(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  __rtsan_realtime_enter();
  __rtsan_realtime_enter();
  void *volatile memory = malloc(16);
  free(memory);
  __rtsan_realtime_exit();
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  swift_release(swift_retain(NULL));
  __rtsan_realtime_exit();
  if (sections != 1 || allocations != 1 || frees != 1 || locks != 1 || retains != 1
      || releases != 1) {
    fprintf(stderr, "the counters of the render calls do not work; they need the dynamic standard library\n");
    abort();
  }
  sections = allocations = frees = locks = retains = releases = 0;
}

__attribute__((destructor)) static void print_totals(void) {
  struct realtime_totals t;
  stillstage_count_realtime(&t);
  fprintf(stderr,
          "render calls %lld, allocations %lld, frees %lld, locks %lld, retains %lld,"
          " releases %lld\n",
          (long long)t.sections, (long long)t.allocations, (long long)t.frees,
          (long long)t.locks, (long long)t.retains, (long long)t.releases);
}
