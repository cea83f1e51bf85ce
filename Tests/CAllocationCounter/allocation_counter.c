// SPDX-License-Identifier: Apache-2.0
// Replaces malloc, the pthread mutex lock and the Swift runtime's reference counting in the test
// executable and counts the calls per thread. Only tests and the products of Tests/link-variant
// link it.
#define _GNU_SOURCE
#include "allocation_counter.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>

static _Thread_local bool is_counting;
static _Thread_local struct operation_counts counts;

#define COUNT(what) do { if (is_counting) counts.what++; } while (0)
#define COUNT_ALLOCATION(size)                                                        \
  do {                                                                                \
    COUNT(allocations);                                                               \
    if (is_counting && (int64_t)(size) > counts.largest_allocation)                   \
      counts.largest_allocation = (int64_t)(size);                                    \
  } while (0)

void operation_counter_start(void) {
  counts = (struct operation_counts){0};
  is_counting = true;
}

struct operation_counts operation_counter_stop(void) {
  is_counting = false;
  return counts;
}

void *operation_counter_memalign(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

// The C library's own functions. RealtimeSanitizer, if linked, comes in between, so that both
// notice a call.
#define NEXT(name) (__interceptor_##name ? __interceptor_##name : __libc_##name)
#define DECLARE_NEXT(type, name, ...) \
  extern type __libc_##name(__VA_ARGS__); \
  extern type __interceptor_##name(__VA_ARGS__) __attribute__((weak))

DECLARE_NEXT(void *, malloc, size_t);
DECLARE_NEXT(void *, calloc, size_t, size_t);
DECLARE_NEXT(void *, realloc, void *, size_t);
DECLARE_NEXT(void *, memalign, size_t, size_t);
DECLARE_NEXT(void, free, void *);
extern int __interceptor_pthread_mutex_lock(pthread_mutex_t *) __attribute__((weak));

void *malloc(size_t size) {
  COUNT_ALLOCATION(size);
  return NEXT(malloc)(size);
}

void *calloc(size_t count, size_t size) {
  COUNT_ALLOCATION(count * size);
  return NEXT(calloc)(count, size);
}

void *realloc(void *old, size_t size) {
  COUNT_ALLOCATION(size);
  return NEXT(realloc)(old, size);
}

void *memalign(size_t alignment, size_t size) {
  COUNT_ALLOCATION(size);
  return NEXT(memalign)(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  COUNT_ALLOCATION(size);
  return NEXT(memalign)(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  COUNT_ALLOCATION(size);
  if (alignment < sizeof(void *) || (alignment & (alignment - 1))) return EINVAL;
  void *memory = NEXT(memalign)(alignment, size);
  if (!memory) return ENOMEM;
  *result = memory;
  return 0;
}

void free(void *memory) {
  if (memory) COUNT(frees);
  NEXT(free)(memory);
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  static int (*next)(pthread_mutex_t *);
  if (!next) {
    next = __interceptor_pthread_mutex_lock;
    if (!next) next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  }
  COUNT(mutex_locks);
  return next(mutex);
}

// These are weak, so that a program with a static standard library still links. Such a program uses
// the library's own functions, and nothing is counted.
#define REPLACES_SWIFT __attribute__((weak))

REPLACES_SWIFT void *swift_retain(void *object) {
  static void *(*next)(void *);
  if (!next) next = dlsym(RTLD_NEXT, "swift_retain");
  COUNT(retains);
  return next(object);
}

REPLACES_SWIFT void swift_release(void *object) {
  static void (*next)(void *);
  if (!next) next = dlsym(RTLD_NEXT, "swift_release");
  COUNT(releases);
  next(object);
}

REPLACES_SWIFT void *swift_allocObject(
    const void *metadata, size_t size, size_t alignment_mask) {
  static void *(*next)(const void *, size_t, size_t);
  if (!next) next = dlsym(RTLD_NEXT, "swift_allocObject");
  COUNT(objects);
  return next(metadata, size, alignment_mask);
}
