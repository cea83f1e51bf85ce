// SPDX-License-Identifier: Apache-2.0
// Stands before malloc, the pthread mutex and the Swift runtime's reference counting in the test
// executable and counts per thread. Linked into tests only.
#define _GNU_SOURCE
#include "allocation_counter.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <malloc.h>
#include <stddef.h>

static _Thread_local bool is_counting;
static _Thread_local struct operation_counts counts;

#define COUNT(what) do { if (is_counting) counts.what++; } while (0)

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

#if defined(STILLSTAGE_REALTIME_SANITIZER) || __has_feature(address_sanitizer) \
    || __has_feature(thread_sanitizer)
bool operation_counter_sees_libc(void) { return false; }
#else
bool operation_counter_sees_libc(void) { return true; }

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

void *malloc(size_t size) {
  COUNT(allocations);
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  COUNT(allocations);
  return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
  COUNT(allocations);
  return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
  COUNT(allocations);
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  COUNT(allocations);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  COUNT(allocations);
  if (alignment < sizeof(void *) || (alignment & (alignment - 1))) return EINVAL;
  void *memory = __libc_memalign(alignment, size);
  if (!memory) return ENOMEM;
  *result = memory;
  return 0;
}

void free(void *memory) {
  if (memory) COUNT(frees);
  __libc_free(memory);
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  static int (*next)(pthread_mutex_t *);
  if (!next) next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  COUNT(mutex_locks);
  return next(mutex);
}
#endif

// Weak, so that a program with a static standard library can still be linked; its own are used then
// and nothing of this is counted.
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
