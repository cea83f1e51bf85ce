// SPDX-License-Identifier: Apache-2.0
// Gives PulseAudio the link to the microphone of a Bluetooth headset, where the kernel has no Bluetooth: a tone of 440 Hz,
// as CVSD (8 kHz, decoded by the controller) or as mSBC (16 kHz).
//
// Build: cc -O2 -shared -fPIC -o sco_link.so sco_link.c -ldl -lm -lpthread
// Use: LD_PRELOAD=.../sco_link.so pulseaudio ...
//
// A socket of the family AF_BLUETOOTH becomes one end of a local socket pair, and `connect` starts the headset at the other
// end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { family = 31, level_sco = 17, level_bluetooth = 274, option_voice = 11, transparent = 3 };
enum { packet = 60, most_sockets = 1024 };

static struct {
  bool is_ours, is_wide;
  int far_end;
} links[most_sockets];

#define ORIGINAL(result, name, arguments)                     \
  static result(*original) arguments;                         \
  if (!original) original = (result(*) arguments)dlsym(RTLD_NEXT, #name)

static bool is_ours(int socket) { return socket >= 0 && socket < most_sockets && links[socket].is_ours; }

static void fill(int16_t *samples, int count, int rate, long *position) {
  for (int i = 0; i < count; i++) samples[i] = (int16_t)(8000 * sin(2 * M_PI * 440 * (double)(*position)++ / rate));
}

/// Encodes one packet of mSBC: a header of two bytes with a sequence number, a frame, and a padding byte.
static void encode(uint8_t *bytes, void *coder, long *position, unsigned *sequence) {
  static int (*init)(void *, unsigned long);
  static ssize_t (*run)(void *, const void *, size_t, void *, size_t, ssize_t *);
  static const uint8_t marks[4] = {0x08, 0x38, 0xc8, 0xf8};
  if (!init) {
    void *library = dlopen("libsbc.so.1", RTLD_NOW);
    if (!library) abort();
    init = (int (*)(void *, unsigned long))dlsym(library, "sbc_init_msbc");
    run = (ssize_t(*)(void *, const void *, size_t, void *, size_t, ssize_t *))dlsym(library, "sbc_encode");
  }
  if (*sequence == 0) init(coder, 0);
  int16_t samples[120];
  ssize_t written;
  fill(samples, 120, 16000, position);
  memset(bytes, 0, packet);
  bytes[0] = 0x01;
  bytes[1] = marks[(*sequence)++ & 3];
  run(coder, samples, sizeof samples, bytes + 2, packet - 2, &written);
}

static void *headset(void *argument) {
  int number = (int)(intptr_t)argument, end = links[number].far_end;
  bool is_wide = links[number].is_wide;
  // A packet is 120 samples at 16 kHz, or 30 samples at 8 kHz.
  long nanoseconds = is_wide ? 7500000 : 3750000, position = 0;
  unsigned sequence = 0;
  uint8_t coder[512] = {0}, bytes[packet], unheard[4096];
  struct timespec due;
  clock_gettime(CLOCK_MONOTONIC, &due);
  for (;;) {
    if (is_wide)
      encode(bytes, coder, &position, &sequence);
    else
      fill((int16_t *)bytes, packet / 2, 8000, &position);
    if (send(end, bytes, packet, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EAGAIN) break;
    while (recv(end, unheard, sizeof unheard, MSG_DONTWAIT) > 0) {}
    due.tv_nsec += nanoseconds;
    if (due.tv_nsec >= 1000000000) due.tv_nsec -= 1000000000, due.tv_sec++;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
  }
  close(end);
  return NULL;
}

int socket(int domain, int type, int protocol) {
  ORIGINAL(int, socket, (int, int, int));
  if (domain != family) return original(domain, type, protocol);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) || ends[0] >= most_sockets) return -1;
  links[ends[0]].is_ours = true;
  links[ends[0]].is_wide = false;
  links[ends[0]].far_end = ends[1];
  return ends[0];
}

int bind(int socket, const struct sockaddr *address, socklen_t length) {
  ORIGINAL(int, bind, (int, const struct sockaddr *, socklen_t));
  return is_ours(socket) ? 0 : original(socket, address, length);
}

int listen(int socket, int backlog) {
  ORIGINAL(int, listen, (int, int));
  return is_ours(socket) ? 0 : original(socket, backlog);
}

int connect(int socket, const struct sockaddr *address, socklen_t length) {
  ORIGINAL(int, connect, (int, const struct sockaddr *, socklen_t));
  if (!is_ours(socket)) return original(socket, address, length);
  pthread_t thread;
  if (pthread_create(&thread, NULL, headset, (void *)(intptr_t)socket)) return -1;
  return pthread_detach(thread);
}

int setsockopt(int socket, int level, int option, const void *value, socklen_t length) {
  ORIGINAL(int, setsockopt, (int, int, int, const void *, socklen_t));
  if (!is_ours(socket) || level == SOL_SOCKET) return original(socket, level, option, value, length);
  uint16_t setting = 0;
  if (level == level_bluetooth && option == option_voice) memcpy(&setting, value, sizeof setting);
  if (setting == transparent) links[socket].is_wide = true;
  return 0;
}

int getsockopt(int socket, int level, int option, void *value, socklen_t *length) {
  ORIGINAL(int, getsockopt, (int, int, int, void *, socklen_t *));
  if (!is_ours(socket) || level != level_sco) return original(socket, level, option, value, length);
  uint16_t size = packet;
  memcpy(value, &size, sizeof size);
  *length = sizeof size;
  return 0;
}

int close(int socket) {
  ORIGINAL(int, close, (int));
  if (socket >= 0 && socket < most_sockets) links[socket].is_ours = false;
  return original(socket);
}
