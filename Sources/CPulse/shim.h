// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>
#include <pulse/ext-stream-restore.h>
#include <pulse/pulseaudio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <sys/types.h>

// The calls that answer a write request. libpulse takes the memory from pools. Once the pools are
// warm, the calls neither allocate nor lock. The attribute promises this to Swift.
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

/// Writes like pulse_write, but `offset` bytes after the write position. A negative `offset` is
/// before it.
static inline int pulse_seek_and_write(pa_stream *stream, const void *data, size_t bytes,
                                       int64_t offset) PULSE_WRITE_PATH;
static inline int pulse_seek_and_write(pa_stream *stream, const void *data, size_t bytes,
                                       int64_t offset) {
  return pa_stream_write(stream, data, bytes, NULL, offset, PA_SEEK_RELATIVE);
}

/// Writes the latency in nanoseconds to `latency`. The latency of a record stream may be negative.
/// Returns a negative error code if the latency is unknown.
static inline int pulse_latency_nanoseconds(pa_stream *stream, int64_t *latency) PULSE_WRITE_PATH;
static inline int pulse_latency_nanoseconds(pa_stream *stream, int64_t *latency) {
  pa_usec_t microseconds = 0;
  int negative = 0;
  int result = pa_stream_get_latency(stream, &microseconds, &negative);
  *latency = (int64_t)microseconds * (negative ? -1000 : 1000);
  return result;
}

// GNU functions that glibc hides from Swift's Glibc module.
extern ssize_t tee(int from, int to, size_t bytes, unsigned flags);
extern ssize_t splice(int from, long *from_offset, int to, long *to_offset, size_t bytes,
                      unsigned flags);

/// Sets the capacity of a pipe. Returns the capacity in bytes, or -1 on failure.
static inline int pipe_set_capacity(int pipe, int bytes) {
  return fcntl(pipe, 1031 /* F_SETPIPE_SZ */, bytes);
}

/// Copies up to `bytes` bytes from the start of one pipe to another pipe without removing them.
/// Returns the number of bytes, or -1 on failure.
static inline long pipe_tee(int from, int to, size_t bytes) {
  return tee(from, to, bytes, 2 /* SPLICE_F_NONBLOCK */);
}

/// Moves up to `bytes` bytes from a pipe to `to`. Returns the number of bytes, or -1 on failure.
static inline long pipe_splice(int from, int to, size_t bytes) {
  return splice(from, 0, to, 0, bytes, 2 /* SPLICE_F_NONBLOCK */);
}

/// Returns the number of bytes in a pipe; 0 on failure.
static inline int pipe_fill(int pipe) {
  int bytes = 0;
  return ioctl(pipe, FIONREAD, &bytes) < 0 ? 0 : bytes;
}
