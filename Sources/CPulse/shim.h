// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pulse/pulseaudio.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

// The calls of a write request. libpulse takes its memory from pools: once these are warm, the
// calls neither allocate nor lock. The attribute promises that to Swift.
#define PULSE_WRITE_PATH __attribute__((swift_attr("@_noLocks")))

static inline int pulse_begin_write(pa_stream *stream, void **data, size_t *bytes)
    PULSE_WRITE_PATH;
static inline int pulse_begin_write(pa_stream *stream, void **data, size_t *bytes) {
  return pa_stream_begin_write(stream, data, bytes);
}

static inline int pulse_cancel_write(pa_stream *stream) PULSE_WRITE_PATH;
static inline int pulse_cancel_write(pa_stream *stream) { return pa_stream_cancel_write(stream); }

static inline int pulse_write(pa_stream *stream, const void *data, size_t bytes) PULSE_WRITE_PATH;
static inline int pulse_write(pa_stream *stream, const void *data, size_t bytes) {
  return pa_stream_write(stream, data, bytes, NULL, 0, PA_SEEK_RELATIVE);
}

/// Writes like pulse_write, `offset` bytes after the write position.
static inline int pulse_seek_and_write(pa_stream *stream, const void *data, size_t bytes,
                                       int64_t offset) PULSE_WRITE_PATH;
static inline int pulse_seek_and_write(pa_stream *stream, const void *data, size_t bytes,
                                       int64_t offset) {
  return pa_stream_write(stream, data, bytes, NULL, offset, PA_SEEK_RELATIVE);
}

/// Writes the latency in nanoseconds to `latency`; it may be negative for a record stream. Returns
/// a negative error code if the latency is unknown.
static inline int pulse_latency_nanoseconds(pa_stream *stream, int64_t *latency) PULSE_WRITE_PATH;
static inline int pulse_latency_nanoseconds(pa_stream *stream, int64_t *latency) {
  pa_usec_t microseconds = 0;
  int negative = 0;
  int result = pa_stream_get_latency(stream, &microseconds, &negative);
  *latency = (int64_t)microseconds * (negative ? -1000 : 1000);
  return result;
}
