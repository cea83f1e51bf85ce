// SPDX-License-Identifier: Apache-2.0
// Runs one command of a program many times. The loader maps and relocates the libraries only once;
// each run is a fork just before main(). Load it with LD_PRELOAD.
//
// Descriptor 198 receives one byte per run. Descriptor 199 returns the process ID, and after the
// end of the process a `struct result`.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { requests = 198, answers = 199 };

struct result {
  int32_t status;
  int32_t left_processes;  // 1 if a child of the process outlived it by more than 0.3 s
  int64_t peak_kilobytes;  // the largest of the process and the children it waited for
  int64_t cpu_microseconds;
};

static void redirect(const char *name, int descriptor) {
  int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || dup2(file, descriptor) < 0) _exit(99);
  close(file);
}

// Returns 1 if children remain. Orphans become children of this process.
static int reap_others(pid_t group) {
  for (int round = 0; round < 31; round++) {
    pid_t ended;
    while ((ended = waitpid(-1, NULL, WNOHANG)) > 0) {}
    if (ended < 0) return 0;
    usleep(10000);
  }
  kill(-group, SIGKILL);
  while (waitpid(-1, NULL, 0) > 0) {}
  return 1;
}

// Returns only in the new processes.
static void serve(void) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) {
    char byte;
    if (read(requests, &byte, 1) != 1) _exit(0);
    pid_t child = fork();
    if (child == 0) {
      setsid();
      close(requests);
      close(answers);
      redirect("out", 1);
      redirect("err", 2);
      return;
    }
    int32_t number = child;
    if (child < 0 || write(answers, &number, sizeof number) < 0) _exit(98);
    struct result result;
    struct rusage usage;
    memset(&result, 0, sizeof result);
    int status;
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {}
    result.status = status;
    result.peak_kilobytes = usage.ru_maxrss;
    result.cpu_microseconds = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL +
                              usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
    result.left_processes = reap_others(child);
    if (write(answers, &result, sizeof result) < 0) _exit(98);
  }
}

static void remove_variable(char **environment, const char *prefix) {
  char **to = environment;
  for (char **from = environment; *from; from++) {
    if (strncmp(*from, prefix, strlen(prefix)) != 0) *to++ = *from;
  }
  *to = NULL;
}

typedef int main_function(int, char **, char **);

int __libc_start_main(
    main_function *main, int count, char **arguments, void (*init)(void), void (*fini)(void),
    void (*loader_fini)(void), void *stack_end) {
  int (*real)(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
  real = dlsym(RTLD_NEXT, "__libc_start_main");
  remove_variable(arguments + count + 1, "LD_PRELOAD=");
  remove_variable(arguments + count + 1, "LD_BIND_NOW=");
  serve();
  return real(main, count, arguments, init, fini, loader_fini, stack_end);
}
