// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

// GNU functions that glibc hides from Swift's Glibc module.
extern int pipe2(int descriptors[2], int flags);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

/// Opens a pipe whose ends are not inherited. `ends` receives the read end, then the write end.
static inline int spawn_pipe(int *ends) { return pipe2(ends, O_CLOEXEC); }

/// Closes all descriptors from `first` on in the new process.
static inline int spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

/// Makes the kernel kill this process when the thread that started it ends. Returns 0 if the parent
/// process is still `parent`, and -1 if it has ended or if the request fails.
static inline int spawn_end_with_parent(pid_t parent) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return -1;
  return getppid() == parent ? 0 : -1;
}

/// Lowers the hard and the soft limit of a resource, such as RLIMIT_CORE, to at most `value`.
static inline void spawn_limit(int resource, rlim_t value) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return;
  if (value < limit.rlim_max) limit.rlim_max = value;
  if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  setrlimit(resource, &limit);
}
