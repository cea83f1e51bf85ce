// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

// Present only where a test links RealtimeSanitizer; nothing otherwise.
extern void __rtsan_realtime_enter(void) __attribute__((weak));
extern void __rtsan_realtime_exit(void) __attribute__((weak));

/// What all threads did within real-time sections since the start of the process.
struct realtime_totals {
  int64_t sections;
  int64_t allocations;
  int64_t frees;
  int64_t locks;
  int64_t retains;
  int64_t releases;
};

// Present only in a program that is linked with the counters of Tests/CountedSections.
extern void stillstage_count_realtime(struct realtime_totals *totals) __attribute__((weak));

/// False where nothing is counted.
static inline bool realtime_totals_read(struct realtime_totals *totals) {
  if (!stillstage_count_realtime) return false;
  stillstage_count_realtime(totals);
  return true;
}

#define STILLSTAGE_NO_LOCKS __attribute__((swift_attr("@_noLocks")))

/// Opens a section in which nothing may allocate, lock or enter the kernel.
static inline void realtime_enter(void) STILLSTAGE_NO_LOCKS;
static inline void realtime_enter(void) {
  if (__rtsan_realtime_enter) __rtsan_realtime_enter();
}

/// Closes the section.
static inline void realtime_exit(void) STILLSTAGE_NO_LOCKS;
static inline void realtime_exit(void) {
  if (__rtsan_realtime_exit) __rtsan_realtime_exit();
}

/// True where RealtimeSanitizer is linked, so that the two above do something.
static inline bool realtime_sanitizer_present(void) STILLSTAGE_NO_LOCKS;
static inline bool realtime_sanitizer_present(void) { return __rtsan_realtime_enter != 0; }

/// CLOCK_MONOTONIC in nanoseconds (read through the vDSO, not a system call).
static inline int64_t monotonic_nanoseconds(void) STILLSTAGE_NO_LOCKS;
static inline int64_t monotonic_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Mathematics that Swift's real-time attribute does not know to be harmless.
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

/// 2 where the processor has AVX-512 (x86-64-v4), 1 where it has AVX2 and FMA (x86-64-v3), else 0.
static inline int processor_width_class(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return 2;
  if (__builtin_cpu_supports("x86-64-v3")) return 1;
#endif
  return 0;
}
