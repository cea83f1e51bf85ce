// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

// Present only in programs that link RealtimeSanitizer or a substitute for it.
extern void __rtsan_realtime_enter(void) __attribute__((weak));
extern void __rtsan_realtime_exit(void) __attribute__((weak));

/// Counts of what all threads have done in real-time sections since the process started.
struct realtime_totals {
  int64_t sections;
  int64_t allocations;
  int64_t frees;
  int64_t locks;
  int64_t retains;
  int64_t releases;
};

// Present only in programs that link the counters of Tests/CountedSections.
extern void stillstage_count_realtime(struct realtime_totals *totals) __attribute__((weak));

/// Reads the counts; returns false if the counters are not linked.
static inline bool realtime_totals_read(struct realtime_totals *totals) {
  if (!stillstage_count_realtime) return false;
  stillstage_count_realtime(totals);
  return true;
}

#define STILLSTAGE_NO_LOCKS __attribute__((swift_attr("@_noLocks")))

/// Begins a section that must not allocate, lock or enter the kernel.
static inline void realtime_enter(void) STILLSTAGE_NO_LOCKS;
static inline void realtime_enter(void) {
  if (__rtsan_realtime_enter) __rtsan_realtime_enter();
}

/// Ends the section.
static inline void realtime_exit(void) STILLSTAGE_NO_LOCKS;
static inline void realtime_exit(void) {
  if (__rtsan_realtime_exit) __rtsan_realtime_exit();
}

/// Returns whether RealtimeSanitizer or a substitute is linked. If not, `realtime_enter` and
/// `realtime_exit` do nothing.
static inline bool realtime_sanitizer_present(void) STILLSTAGE_NO_LOCKS;
static inline bool realtime_sanitizer_present(void) { return __rtsan_realtime_enter != 0; }

/// Returns CLOCK_MONOTONIC in nanoseconds, usually read through the vDSO without a system call.
static inline int64_t monotonic_nanoseconds(void) STILLSTAGE_NO_LOCKS;
static inline int64_t monotonic_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Mathematical functions that Swift's real-time attribute does not know to be safe.
static inline float realtime_sqrtf(float x) STILLSTAGE_NO_LOCKS;
static inline float realtime_sqrtf(float x) { return __builtin_sqrtf(x); }
static inline double realtime_sqrt(double x) STILLSTAGE_NO_LOCKS;
static inline double realtime_sqrt(double x) { return __builtin_sqrt(x); }
static inline double realtime_sin(double x) STILLSTAGE_NO_LOCKS;
static inline double realtime_sin(double x) { return __builtin_sin(x); }
static inline double realtime_cos(double x) STILLSTAGE_NO_LOCKS;
static inline double realtime_cos(double x) { return __builtin_cos(x); }
static inline double realtime_atan2(double y, double x) STILLSTAGE_NO_LOCKS;
static inline double realtime_atan2(double y, double x) { return __builtin_atan2(y, x); }
static inline double realtime_exp(double x) STILLSTAGE_NO_LOCKS;
static inline double realtime_exp(double x) { return __builtin_exp(x); }
static inline double realtime_log(double x) STILLSTAGE_NO_LOCKS;
static inline double realtime_log(double x) { return __builtin_log(x); }

/// Returns 2 for AVX-512 (x86-64-v4), 1 for AVX2 and FMA (x86-64-v3), else 0.
static inline int processor_width_class(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return 2;
  if (__builtin_cpu_supports("x86-64-v3")) return 1;
#endif
  return 0;
}

/// Sets the size in bytes from which malloc maps each block separately and unmaps it when it is
/// freed.
static inline void set_mapped_block_size(int bytes) { mallopt(M_MMAP_THRESHOLD, bytes); }
