// SPDX-License-Identifier: Apache-2.0
// Gives the null sinks of a PulseAudio server the ports "headphones", which is active, and "speaker", like those of a
// sound card. `pactl set-sink-port` selects one.
//
// Build: cc -O2 -shared -fPIC -o pulse_ports.so pulse_ports.c -ldl
// Use: LD_PRELOAD=.../pulse_ports.so pulseaudio ...
//
// The module of the null sink and the native protocol call pa_sink_new and pa_sink_set_port in libpulsecore, and so find
// the functions below first. Only the place of the list of ports in pa_sink_new_data is assumed (PulseAudio 14 to 17).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ports_offset = 6 * sizeof(void *), search_words = 256, direction_output = 1, available_yes = 2 };
enum { type_speaker = 2, type_headphones = 3 };

static struct {
  void *sink;
  void **active;
  void *ports[2];
} known[16];
static int count;
static const char *const names[2] = {"headphones", "speaker"};

static void *find(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (!function) abort();
  return function;
}

static void *make_port(void *core, void *data, int index) {
  char port_data[512] = {0};
  ((void *(*)(void *))find("pa_device_port_new_data_init"))(port_data);
  ((void (*)(void *, const char *))find("pa_device_port_new_data_set_name"))(port_data, names[index]);
  ((void (*)(void *, const char *))find("pa_device_port_new_data_set_description"))(port_data, names[index]);
  ((void (*)(void *, int))find("pa_device_port_new_data_set_direction"))(port_data, direction_output);
  ((void (*)(void *, int))find("pa_device_port_new_data_set_available"))(port_data, available_yes);
  ((void (*)(void *, int))find("pa_device_port_new_data_set_type"))(port_data, index ? type_speaker : type_headphones);
  void *port = ((void *(*)(void *, void *, size_t))find("pa_device_port_new"))(core, port_data, 0);
  ((void (*)(void *))find("pa_device_port_new_data_done"))(port_data);
  void *list = *(void **)((char *)data + ports_offset);
  ((int (*)(void *, const char *, void *))find("pa_hashmap_put"))(list, names[index], port);
  return port;
}

void *pa_sink_new(void *core, void *data, int flags) {
  void *ports[2] = {make_port(core, data, 0), make_port(core, data, 1)};
  ((void (*)(void *, const char *))find("pa_sink_new_data_set_port"))(data, names[0]);
  void *sink = ((void *(*)(void *, void *, int))find("pa_sink_new"))(core, data, flags);
  for (int word = 0; sink && count < 16 && word < search_words; word++) {
    void **place = (void **)sink + word;
    if (*place != ports[0]) continue;
    known[count].sink = sink;
    known[count].active = place;
    memcpy(known[count].ports, ports, sizeof ports);
    count++;
    break;
  }
  return sink;
}

int pa_sink_set_port(void *sink, const char *name, bool save) {
  (void)save;
  for (int i = 0; i < count; i++)
    for (int port = 0; port < 2; port++)
      if (known[i].sink == sink && strcmp(name, names[port]) == 0) {
        *known[i].active = known[i].ports[port];
        // A change of the description tells all clients that the sink has changed.
        ((void (*)(void *, const char *))find("pa_sink_set_description"))(sink, port ? "Loudspeaker" : "Headphones");
        return 0;
      }
  return -1;
}
