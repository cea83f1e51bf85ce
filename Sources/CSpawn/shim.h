// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>
#include <spawn.h>

// GNU functions that glibc hides from Swift's Glibc module.
extern int pipe2(int descriptors[2], int flags);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

/// Opens a pipe whose ends are not inherited. `ends` receives the read end, then the write end.
static inline int spawn_pipe(int *ends) { return pipe2(ends, O_CLOEXEC); }

/// Closes all descriptors from `first` on in the new process.
static inline int spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
