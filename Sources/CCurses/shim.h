// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dlfcn.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// The functions of libncursesw 6 that the full-screen view calls, as in ncurses(3). The library is
// loaded when the view is first opened. The build needs neither the library nor its headers.

typedef struct screen curses_screen;
typedef struct _win_st curses_window;

#define CURSES_FUNCTIONS(X)                                                     \
  X(newterm, curses_screen *, (const char *, FILE *, FILE *))                   \
  X(endwin, int, (void))                                                        \
  X(newwin, curses_window *, (int, int, int, int))                              \
  X(delwin, int, (curses_window *))                                             \
  X(resizeterm, int, (int, int))                                                \
  X(clearok, int, (curses_window *, bool))                                      \
  X(idcok, void, (curses_window *, bool))                                       \
  X(leaveok, int, (curses_window *, bool))                                      \
  X(typeahead, int, (int))                                                      \
  X(curs_set, int, (int))                                                       \
  X(has_colors, bool, (void))                                                   \
  X(start_color, int, (void))                                                   \
  X(use_default_colors, int, (void))                                            \
  X(init_pair, int, (short, short, short))                                      \
  X(werase, int, (curses_window *))                                             \
  X(wmove, int, (curses_window *, int, int))                                    \
  X(wattr_set, int, (curses_window *, unsigned int, short, void *))             \
  X(waddnstr, int, (curses_window *, const char *, int))                        \
  X(wrefresh, int, (curses_window *))

struct curses_library {
#define CURSES_MEMBER(name, result, parameters) result(*name) parameters;
  CURSES_FUNCTIONS(CURSES_MEMBER)
#undef CURSES_MEMBER
};

/// Loads the library. Returns NULL, or the name of the library or function that is missing.
static inline const char *curses_load(struct curses_library *library) {
  void *handle = dlopen("libncursesw.so.6", RTLD_NOW | RTLD_LOCAL);
  if (!handle) return "libncursesw.so.6";
#define CURSES_LOAD(name, result, parameters)                                   \
  library->name = (result(*) parameters)dlsym(handle, #name);                   \
  if (!library->name) return #name;
  CURSES_FUNCTIONS(CURSES_LOAD)
#undef CURSES_LOAD
  return NULL;
}

static inline void curses_keep_signal(int number) { (void)number; }

/// Opens a terminal of the type that TERM names. Returns NULL if the type is unknown or
/// `descriptor` cannot be duplicated.
///
/// newterm installs signal handlers. This function then restores the program's own handlers.
///
/// Before newterm, this function sets a handler of SIGTSTP, so that ncurses never changes the
/// handling of this signal (ncurses 6.4, lib_tstp.c). Otherwise, ncurses would ignore SIGTSTP
/// during each wrefresh, and the kernel would then discard a blocked, pending SIGTSTP.
static inline curses_screen *curses_open(const struct curses_library *library, int descriptor) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
  enum { count = sizeof numbers / sizeof *numbers };
  struct sigaction actions[count];
  FILE *output = fdopen(dup(descriptor), "w");
  FILE *input = fdopen(dup(descriptor), "r");
  if (!output || !input) return NULL;
  for (int i = 0; i < count; i++) sigaction(numbers[i], NULL, &actions[i]);
  struct sigaction kept = {.sa_handler = curses_keep_signal};
  sigaction(SIGTSTP, &kept, NULL);
  curses_screen *screen = library->newterm(NULL, output, input);
  for (int i = 0; i < count; i++) sigaction(numbers[i], &actions[i], NULL);
  if (!screen) {
    fclose(output);
    fclose(input);
  }
  return screen;
}

/// Adopts the user's character set. Returns whether it is UTF-8.
static inline bool curses_adopt_utf8(void) {
  return setlocale(LC_CTYPE, "") && !strcmp(nl_langinfo(CODESET), "UTF-8");
}
