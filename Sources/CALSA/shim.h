// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>

// The sequencer functions of libasound. The library is loaded when one of them is first used, so a
// program also starts without it. The functions that `SEQ` defines are named as in libasound, with
// the prefix `alsa` instead of `snd_seq`. They return -ENOSYS if the library or the function is
// missing.

typedef struct alsa_sequencer alsa_sequencer;

/// A client and one of its ports.
typedef struct alsa_address {
  uint8_t client;
  uint8_t port;
} alsa_address;

/// An event, laid out as `snd_seq_event_t` (struct snd_seq_event in the kernel's
/// sound/asequencer.h).
typedef struct alsa_event {
  uint8_t type;
  uint8_t flags;
  uint8_t tag;
  uint8_t queue;
  uint32_t time[2];
  alsa_address source;
  alsa_address destination;
  union {
    struct {
      uint8_t channel;
      uint8_t unused[3];
      uint32_t parameter;
      int32_t value;
    } control;
    struct __attribute__((packed)) {
      uint32_t length;
      void *bytes;
    } variable;
    alsa_address address;
  } data;
} alsa_event;
_Static_assert(sizeof(alsa_event) == 28, "the layout of snd_seq_event_t");

enum {
  ALSA_OPEN_DUPLEX = 3,
  ALSA_NONBLOCK = 1,
  ALSA_PORT_READ = 1 << 0,
  ALSA_PORT_WRITE = 1 << 1,
  ALSA_PORT_SUBSCRIBE_READ = 1 << 5,
  ALSA_PORT_SUBSCRIBE_WRITE = 1 << 6,
  ALSA_TYPE_MIDI_GENERIC = 1 << 1,
  ALSA_TYPE_APPLICATION = 1 << 20,
  ALSA_VARIABLE_LENGTH = 1 << 2,
  ALSA_QUEUE_DIRECT = 253,
  ALSA_ANNOUNCE_PORT = 1,
  ALSA_EVENT_CONTROLLER = 10,
  ALSA_EVENT_CONTROL14 = 14,
  ALSA_EVENT_CLIENT_EXIT = 61,
  ALSA_EVENT_PORT_EXIT = 64,
  ALSA_EVENT_SYSEX = 130,
};

/// Returns a function of libasound; NULL if the library or the function is missing.
static inline void *alsa_function(const char *name) {
  static void *library;
  if (!library) library = dlopen("libasound.so.2", RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, name) : NULL;
}

#define SEQ(name, parameters, arguments)                              \
  static inline int alsa_##name parameters {                          \
    int(*function) parameters = alsa_function("snd_seq_" #name);      \
    return function ? function arguments : -ENOSYS;                   \
  }

SEQ(set_client_name, (alsa_sequencer *sequencer, const char *name), (sequencer, name))
SEQ(create_simple_port,
    (alsa_sequencer *sequencer, const char *name, unsigned int capabilities, unsigned int type),
    (sequencer, name, capabilities, type))
SEQ(connect_from, (alsa_sequencer *sequencer, int port, int client, int their_port),
    (sequencer, port, client, their_port))
SEQ(connect_to, (alsa_sequencer *sequencer, int port, int client, int their_port),
    (sequencer, port, client, their_port))
SEQ(poll_descriptors,
    (alsa_sequencer *sequencer, struct pollfd *descriptors, unsigned int space, short events),
    (sequencer, descriptors, space, events))
SEQ(event_input, (alsa_sequencer *sequencer, alsa_event **event), (sequencer, event))
SEQ(event_output_direct, (alsa_sequencer *sequencer, alsa_event *event), (sequencer, event))
SEQ(close, (alsa_sequencer *sequencer), (sequencer))

static inline void alsa_ignore_error(const char *file, int line, const char *function, int error,
                                     const char *format, ...) {
  (void)file, (void)line, (void)function, (void)error, (void)format;
}

/// Opens the sequencer in non-blocking mode, and stops libasound from printing errors. Returns a
/// negative error number on failure.
static inline int alsa_open(alsa_sequencer **sequencer) {
  typedef void (*handler)(const char *, int, const char *, int, const char *, ...);
  int (*set_handler)(handler) = alsa_function("snd_lib_error_set_handler");
  if (set_handler) set_handler(alsa_ignore_error);
  int (*function)(alsa_sequencer **, const char *, int, int) = alsa_function("snd_seq_open");
  return function ? function(sequencer, "default", ALSA_OPEN_DUPLEX, ALSA_NONBLOCK) : -ENOSYS;
}
