// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

// sd-bus of libsystemd, loaded when it is first needed, so that a program also starts without it.
// The functions that `SYSTEM_BUS` defines are named as in sd-bus(3), with the prefix `system_bus`
// instead of `sd_bus`; they return -ENOSYS if the library or the function is missing.

typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct sd_bus_slot sd_bus_slot;
typedef struct system_bus_error {
  const char *name;
  const char *message;
  int is_owned;
} system_bus_error;
typedef int (*system_bus_handler)(sd_bus_message *, void *, system_bus_error *);

/// Returns a function of libsystemd; NULL if the library or the function is missing.
static inline void *system_bus_function(const char *name) {
  static void *library;
  if (!library) library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, name) : NULL;
}

#define SYSTEM_BUS(name, parameters, arguments)                              \
  static inline int system_bus_##name parameters {                           \
    int(*function) parameters = system_bus_function("sd_bus_" #name);        \
    return function ? function arguments : -ENOSYS;                          \
  }

SYSTEM_BUS(open_system, (sd_bus **bus), (bus))
SYSTEM_BUS(new, (sd_bus **bus), (bus))
SYSTEM_BUS(set_address, (sd_bus *bus, const char *address), (bus, address))
SYSTEM_BUS(set_bus_client, (sd_bus *bus, int is_client), (bus, is_client))
SYSTEM_BUS(start, (sd_bus *bus), (bus))
SYSTEM_BUS(process, (sd_bus *bus, sd_bus_message **message), (bus, message))
SYSTEM_BUS(wait, (sd_bus *bus, uint64_t microseconds), (bus, microseconds))
SYSTEM_BUS(send, (sd_bus *bus, sd_bus_message *message, uint64_t *cookie), (bus, message, cookie))
SYSTEM_BUS(call,
           (sd_bus *bus, sd_bus_message *message, uint64_t microseconds, system_bus_error *error,
            sd_bus_message **reply),
           (bus, message, microseconds, error, reply))
SYSTEM_BUS(call_async,
           (sd_bus *bus, sd_bus_slot **slot, sd_bus_message *message, system_bus_handler handler,
            void *context, uint64_t microseconds),
           (bus, slot, message, handler, context, microseconds))
SYSTEM_BUS(add_object,
           (sd_bus *bus, sd_bus_slot **slot, const char *path, system_bus_handler handler,
            void *context),
           (bus, slot, path, handler, context))
SYSTEM_BUS(request_name, (sd_bus *bus, const char *name, uint64_t flags), (bus, name, flags))
SYSTEM_BUS(message_new_method_call,
           (sd_bus *bus, sd_bus_message **message, const char *destination, const char *path,
            const char *interface, const char *member),
           (bus, message, destination, path, interface, member))
SYSTEM_BUS(message_new_method_return, (sd_bus_message *call, sd_bus_message **message),
           (call, message))
SYSTEM_BUS(message_append_basic, (sd_bus_message *message, char type, const void *value),
           (message, type, value))
SYSTEM_BUS(message_open_container, (sd_bus_message *message, char type, const char *contents),
           (message, type, contents))
SYSTEM_BUS(message_close_container, (sd_bus_message *message), (message))
SYSTEM_BUS(message_read_basic, (sd_bus_message *message, char type, void *value),
           (message, type, value))
SYSTEM_BUS(message_enter_container, (sd_bus_message *message, char type, const char *contents),
           (message, type, contents))
SYSTEM_BUS(message_exit_container, (sd_bus_message *message), (message))
SYSTEM_BUS(message_peek_type, (sd_bus_message *message, char *type, const char **contents),
           (message, type, contents))
SYSTEM_BUS(message_skip, (sd_bus_message *message, const char *types), (message, types))
SYSTEM_BUS(message_is_method_call,
           (sd_bus_message *message, const char *interface, const char *member),
           (message, interface, member))

/// Sets the error that a handler returns. Returns -ENOSYS if libsystemd is missing.
static inline int system_bus_error_set(system_bus_error *error, const char *name,
                                       const char *message) {
  int (*function)(system_bus_error *, const char *, const char *) =
      system_bus_function("sd_bus_error_set");
  return function ? function(error, name, message) : -ENOSYS;
}

/// Returns the unique name of a message's sender; NULL if unknown.
static inline const char *system_bus_message_sender(sd_bus_message *message) {
  const char *(*function)(sd_bus_message *) = system_bus_function("sd_bus_message_get_sender");
  return function ? function(message) : NULL;
}

/// Returns the object path of a message; NULL if it has none.
static inline const char *system_bus_message_path(sd_bus_message *message) {
  const char *(*function)(sd_bus_message *) = system_bus_function("sd_bus_message_get_path");
  return function ? function(message) : NULL;
}

/// Sends the queued messages, closes the connection and releases it.
static inline void system_bus_close(sd_bus *bus) {
  sd_bus *(*function)(sd_bus *) = system_bus_function("sd_bus_flush_close_unref");
  if (function) function(bus);
}

/// Releases a message.
static inline void system_bus_release(sd_bus_message *message) {
  sd_bus_message *(*function)(sd_bus_message *) = system_bus_function("sd_bus_message_unref");
  if (function) function(message);
}

/// Ends a registration or a pending call.
static inline void system_bus_cancel(sd_bus_slot *slot) {
  sd_bus_slot *(*function)(sd_bus_slot *) = system_bus_function("sd_bus_slot_unref");
  if (function) function(slot);
}

/// Releases the texts of an error.
static inline void system_bus_error_free(system_bus_error *error) {
  void (*function)(system_bus_error *) = system_bus_function("sd_bus_error_free");
  if (function) function(error);
}

/// Returns the error of a reply; NULL if the reply is not an error.
static inline const system_bus_error *system_bus_message_error(sd_bus_message *message) {
  const system_bus_error *(*function)(sd_bus_message *) =
      system_bus_function("sd_bus_message_get_error");
  return function ? function(message) : NULL;
}
