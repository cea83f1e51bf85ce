// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

// The sd-bus functions of libsystemd. The library is loaded when one of them is first used, so a
// program also starts without it. The functions that `BUS` defines are named as in sd-bus(3), with
// the prefix `bus` instead of `sd_bus`. They return -ENOSYS if the library or the function is
// missing.

typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct sd_bus_slot sd_bus_slot;
typedef struct bus_error {
  const char *name;
  const char *message;
  int is_owned;
} bus_error;
typedef int (*bus_handler)(sd_bus_message *, void *, bus_error *);

/// Returns a function of libsystemd; NULL if the library or the function is missing.
static inline void *bus_function(const char *name) {
  static void *library;
  if (!library) library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, name) : NULL;
}

#define BUS(name, parameters, arguments)                              \
  static inline int bus_##name parameters {                           \
    int(*function) parameters = bus_function("sd_bus_" #name);        \
    return function ? function arguments : -ENOSYS;                          \
  }

BUS(open_system, (sd_bus **bus), (bus))
BUS(open_user, (sd_bus **bus), (bus))
BUS(new, (sd_bus **bus), (bus))
BUS(set_address, (sd_bus *bus, const char *address), (bus, address))
BUS(set_bus_client, (sd_bus *bus, int is_client), (bus, is_client))
BUS(start, (sd_bus *bus), (bus))
BUS(process, (sd_bus *bus, sd_bus_message **message), (bus, message))
BUS(wait, (sd_bus *bus, uint64_t microseconds), (bus, microseconds))
BUS(send, (sd_bus *bus, sd_bus_message *message, uint64_t *cookie), (bus, message, cookie))
BUS(call,
           (sd_bus *bus, sd_bus_message *message, uint64_t microseconds, bus_error *error,
            sd_bus_message **reply),
           (bus, message, microseconds, error, reply))
BUS(call_async,
           (sd_bus *bus, sd_bus_slot **slot, sd_bus_message *message, bus_handler handler,
            void *context, uint64_t microseconds),
           (bus, slot, message, handler, context, microseconds))
BUS(add_object,
           (sd_bus *bus, sd_bus_slot **slot, const char *path, bus_handler handler,
            void *context),
           (bus, slot, path, handler, context))
BUS(add_match,
           (sd_bus *bus, sd_bus_slot **slot, const char *rule, bus_handler handler,
            void *context),
           (bus, slot, rule, handler, context))
BUS(request_name, (sd_bus *bus, const char *name, uint64_t flags), (bus, name, flags))
BUS(message_new_method_call,
           (sd_bus *bus, sd_bus_message **message, const char *destination, const char *path,
            const char *interface, const char *member),
           (bus, message, destination, path, interface, member))
BUS(message_new_method_return, (sd_bus_message *call, sd_bus_message **message),
           (call, message))
BUS(message_new_signal,
    (sd_bus *bus, sd_bus_message **message, const char *path, const char *interface,
     const char *member),
    (bus, message, path, interface, member))
BUS(message_append_basic, (sd_bus_message *message, char type, const void *value),
           (message, type, value))
BUS(message_open_container, (sd_bus_message *message, char type, const char *contents),
           (message, type, contents))
BUS(message_close_container, (sd_bus_message *message), (message))
BUS(message_read_basic, (sd_bus_message *message, char type, void *value),
           (message, type, value))
BUS(message_enter_container, (sd_bus_message *message, char type, const char *contents),
           (message, type, contents))
BUS(message_exit_container, (sd_bus_message *message), (message))
BUS(message_peek_type, (sd_bus_message *message, char *type, const char **contents),
           (message, type, contents))
BUS(message_skip, (sd_bus_message *message, const char *types), (message, types))
BUS(message_is_method_call,
           (sd_bus_message *message, const char *interface, const char *member),
           (message, interface, member))

/// Sets the error that a handler returns. Returns a negative error number; -ENOSYS if libsystemd is
/// missing.
static inline int bus_error_set(bus_error *error, const char *name,
                                       const char *message) {
  int (*function)(bus_error *, const char *, const char *) =
      bus_function("sd_bus_error_set");
  return function ? function(error, name, message) : -ENOSYS;
}

/// Returns the unique name of a message's sender; NULL if unknown.
static inline const char *bus_message_sender(sd_bus_message *message) {
  const char *(*function)(sd_bus_message *) = bus_function("sd_bus_message_get_sender");
  return function ? function(message) : NULL;
}

/// Returns the object path of a message; NULL if it has none.
static inline const char *bus_message_path(sd_bus_message *message) {
  const char *(*function)(sd_bus_message *) = bus_function("sd_bus_message_get_path");
  return function ? function(message) : NULL;
}

/// Sends the queued messages, closes the connection and releases it.
static inline void bus_close(sd_bus *bus) {
  sd_bus *(*function)(sd_bus *) = bus_function("sd_bus_flush_close_unref");
  if (function) function(bus);
}

static inline void bus_retain(sd_bus_message *message) {
  sd_bus_message *(*function)(sd_bus_message *) = bus_function("sd_bus_message_ref");
  if (function) function(message);
}

static inline void bus_release(sd_bus_message *message) {
  sd_bus_message *(*function)(sd_bus_message *) = bus_function("sd_bus_message_unref");
  if (function) function(message);
}

/// Ends a registration or a pending call.
static inline void bus_cancel(sd_bus_slot *slot) {
  sd_bus_slot *(*function)(sd_bus_slot *) = bus_function("sd_bus_slot_unref");
  if (function) function(slot);
}

/// Releases the texts of an error.
static inline void bus_error_free(bus_error *error) {
  void (*function)(bus_error *) = bus_function("sd_bus_error_free");
  if (function) function(error);
}

/// Returns the error of a reply; NULL if the reply is not an error.
static inline const bus_error *bus_message_error(sd_bus_message *message) {
  const bus_error *(*function)(sd_bus_message *) =
      bus_function("sd_bus_message_get_error");
  return function ? function(message) : NULL;
}
