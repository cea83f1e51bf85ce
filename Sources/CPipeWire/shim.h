// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include <pipewire/pipewire.h>
// Needs pipewire.h.
#include <pipewire/extensions/metadata.h>
#include <spa/param/audio/format-utils.h>
#include <spa/param/audio/raw.h>
#include <spa/param/latency-utils.h>
#include <spa/param/route.h>
#include <spa/pod/builder.h>
#include <spa/pod/iter.h>
#include <spa/pod/parser.h>
#include <spa/utils/result.h>

// libpipewire is loaded when it is first needed, so that a program also starts where it is missing.
// The build needs only its headers.

#define PIPEWIRE_FUNCTIONS(X)                                                              \
  X(pw_init) X(pw_log_set_level)                                                           \
  X(pw_thread_loop_new) X(pw_thread_loop_destroy) X(pw_thread_loop_start)                  \
  X(pw_thread_loop_stop) X(pw_thread_loop_lock) X(pw_thread_loop_unlock)                   \
  X(pw_thread_loop_signal) X(pw_thread_loop_get_time) X(pw_thread_loop_timed_wait_full)    \
  X(pw_thread_loop_in_thread) X(pw_thread_loop_get_loop)                                   \
  X(pw_context_new) X(pw_context_connect) X(pw_context_destroy)                            \
  X(pw_core_disconnect)                                                                    \
  X(pw_properties_new_dict) X(pw_properties_set)                                           \
  X(pw_proxy_destroy)                                                                      \
  X(pw_stream_new) X(pw_stream_add_listener) X(pw_stream_connect) X(pw_stream_destroy)     \
  X(pw_stream_dequeue_buffer) X(pw_stream_queue_buffer) X(pw_stream_set_active)            \
  X(pw_stream_get_node_id) X(pw_stream_update_properties) X(pw_stream_get_time_n)          \
  X(pw_stream_update_params) X(pw_stream_trigger_process) X(pw_stream_flush)

struct pipewire_library {
#define PIPEWIRE_MEMBER(name) __typeof__(name) *name;
  PIPEWIRE_FUNCTIONS(PIPEWIRE_MEMBER)
#undef PIPEWIRE_MEMBER
};

/// Loads libpipewire 0.3.50 or later. Returns NULL, or the name of the library or function that is
/// missing.
static inline const char *pipewire_load(struct pipewire_library *library) {
  void *handle = dlopen("libpipewire-0.3.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!handle) return "libpipewire-0.3.so.0";
#define PIPEWIRE_LOAD(name)                                                    \
  library->name = (__typeof__(library->name))dlsym(handle, #name);             \
  if (!library->name) return #name;
  PIPEWIRE_FUNCTIONS(PIPEWIRE_LOAD)
#undef PIPEWIRE_LOAD
  return NULL;
}

// MARK: The data thread

// The calls that the data thread makes. They use only lock-free rings and shared memory, as
// PW_STREAM_FLAG_RT_PROCESS requires. The attribute tells Swift that they do not lock.
#define PIPEWIRE_DATA_PATH __attribute__((swift_attr("@_noLocks")))

/// A buffer to fill, and the state of the graph.
struct pipewire_cycle {
  struct pw_buffer *buffer;
  float *samples;
  /// The number of stereo frames to render.
  int64_t frames;
  /// The number of stereo frames for which the buffer has room.
  int64_t capacity;
  /// The time of the cycle, in CLOCK_MONOTONIC nanoseconds.
  int64_t now;
  /// The time from `now` until the first frame of the buffer is heard, in nanoseconds; 0 if unknown.
  int64_t delay;
  /// The graph's own count of frames (`ticks`) and its frames per second (`rate`); each is 0 if
  /// unknown.
  int64_t ticks;
  int64_t rate;
};

/// Dequeues a buffer of interleaved stereo. Returns false if there is no usable one.
///
/// `trigger` is the stream that triggered `stream`, or NULL. A triggered stream learns the time of
/// a cycle only after the cycle, so the time is then taken from `trigger`.
static inline bool pipewire_begin(const struct pipewire_library *library, struct pw_stream *stream,
                                  struct pw_stream *trigger, int64_t sample_rate,
                                  struct pipewire_cycle *cycle) PIPEWIRE_DATA_PATH;
static inline bool pipewire_begin(const struct pipewire_library *library, struct pw_stream *stream,
                                  struct pw_stream *trigger, int64_t sample_rate,
                                  struct pipewire_cycle *cycle) {
  struct pw_time time;
  memset(&time, 0, sizeof time);
  int known = library->pw_stream_get_time_n(stream, &time, sizeof time);
  if (trigger) {
    struct pw_time current;
    memset(&current, 0, sizeof current);
    known = library->pw_stream_get_time_n(trigger, &current, sizeof current);
    time.now = current.now;
    time.ticks = current.ticks;
    time.rate = current.rate;
    time.queued = 0;
  }
  struct pw_buffer *buffer = library->pw_stream_dequeue_buffer(stream);
  if (!buffer) return false;
  struct spa_data *data = buffer->buffer->datas;
  if (buffer->buffer->n_datas < 1 || !data->data) {
    library->pw_stream_queue_buffer(stream, buffer);
    return false;
  }
  cycle->buffer = buffer;
  cycle->samples = (float *)data->data;
  cycle->capacity = data->maxsize / (2 * sizeof(float));
  cycle->frames = cycle->capacity;
  if (buffer->requested && (int64_t)buffer->requested < cycle->frames)
    cycle->frames = (int64_t)buffer->requested;
  cycle->now = time.now;
  cycle->ticks = (int64_t)time.ticks;
  cycle->rate = 0;
  cycle->delay = 0;
  if (known < 0 || !time.rate.denom || !time.rate.num) return true;
  cycle->rate = time.rate.denom / time.rate.num;
  cycle->delay = time.delay * 1000000000 / cycle->rate +
                 (int64_t)(time.queued + time.buffered) * 1000000000 / sample_rate;
  return true;
}

/// Sends the first `frames` frames of the buffer.
static inline void pipewire_end(const struct pipewire_library *library, struct pw_stream *stream,
                                struct pipewire_cycle *cycle, int64_t frames) PIPEWIRE_DATA_PATH;
static inline void pipewire_end(const struct pipewire_library *library, struct pw_stream *stream,
                                struct pipewire_cycle *cycle, int64_t frames) {
  struct spa_chunk *chunk = cycle->buffer->buffer->datas[0].chunk;
  chunk->offset = 0;
  chunk->stride = 2 * sizeof(float);
  chunk->size = (uint32_t)frames * 2 * sizeof(float);
  cycle->buffer->size = (uint64_t)frames;
  library->pw_stream_queue_buffer(stream, cycle->buffer);
}

/// A buffer of sound that programs play to a sink.
struct pipewire_input {
  struct pw_buffer *buffer;
  /// Interleaved samples; NULL if there are none.
  const float *samples;
  int64_t frames;
  /// The graph's frames per second; 0 if unknown.
  int64_t graph_rate;
  /// The time of the cycle, in CLOCK_MONOTONIC nanoseconds; 0 if unknown.
  int64_t now;
};

/// Dequeues the newest buffer of a sink with `channels` channels, and gives older buffers back.
/// Returns false if no buffer is available.
static inline bool pipewire_take(const struct pipewire_library *library, struct pw_stream *stream,
                                 int64_t channels, struct pipewire_input *input) PIPEWIRE_DATA_PATH;
static inline bool pipewire_take(const struct pipewire_library *library, struct pw_stream *stream,
                                 int64_t channels, struct pipewire_input *input) {
  memset(input, 0, sizeof *input);
  struct pw_time time;
  memset(&time, 0, sizeof time);
  if (library->pw_stream_get_time_n(stream, &time, sizeof time) >= 0 && time.rate.num)
    input->graph_rate = time.rate.denom / time.rate.num;
  input->now = time.now;
  struct pw_buffer *next;
  while ((next = library->pw_stream_dequeue_buffer(stream))) {
    if (input->buffer) library->pw_stream_queue_buffer(stream, input->buffer);
    input->buffer = next;
  }
  if (!input->buffer) return false;
  if (input->buffer->buffer->n_datas < 1) return true;
  const struct spa_data *data = &input->buffer->buffer->datas[0];
  if (!data->data || !data->chunk) return true;
  uint32_t offset = SPA_MIN(data->chunk->offset, data->maxsize);
  uint32_t size = SPA_MIN(data->chunk->size, data->maxsize - offset);
  input->samples = (const float *)((const uint8_t *)data->data + offset);
  input->frames = size / (int64_t)(channels * sizeof(float));
  return true;
}

/// Gives a buffer from `pipewire_take` back to its stream.
static inline void pipewire_give_back(const struct pipewire_library *library,
                                      struct pw_stream *stream, struct pipewire_input *input)
    PIPEWIRE_DATA_PATH;
static inline void pipewire_give_back(const struct pipewire_library *library,
                                      struct pw_stream *stream, struct pipewire_input *input) {
  if (input->buffer) library->pw_stream_queue_buffer(stream, input->buffer);
  input->buffer = NULL;
}

/// Triggers a stream that has PW_STREAM_FLAG_TRIGGER: the data thread runs its process function.
/// Returns false if PipeWire reports an error.
static inline bool pipewire_trigger(const struct pipewire_library *library,
                                    struct pw_stream *stream) PIPEWIRE_DATA_PATH;
static inline bool pipewire_trigger(const struct pipewire_library *library,
                                    struct pw_stream *stream) {
  return library->pw_stream_trigger_process(stream) >= 0;
}

// MARK: Methods, which are macros

static inline struct spa_source *pipewire_add_timer(struct pw_loop *loop,
                                                    spa_source_timer_func_t function, void *data) {
  return pw_loop_add_timer(loop, function, data);
}
/// Makes a timer fire after `first` nanoseconds (at least 1), and then every `interval` ns.
static inline void pipewire_set_timer(struct pw_loop *loop, struct spa_source *timer, int64_t first,
                                      int64_t interval) {
  struct timespec value = {first / 1000000000, first % 1000000000};
  struct timespec repeat = {interval / 1000000000, interval % 1000000000};
  pw_loop_update_timer(loop, timer, &value, &repeat, false);
}
static inline void pipewire_remove_source(struct pw_loop *loop, struct spa_source *source) {
  pw_loop_destroy_source(loop, source);
}

static inline struct pw_registry *pipewire_registry(struct pw_core *core) {
  return pw_core_get_registry(core, PW_VERSION_REGISTRY, 0);
}
static inline int pipewire_sync(struct pw_core *core, int sequence) {
  return pw_core_sync(core, PW_ID_CORE, sequence);
}
static inline void pipewire_listen_core(struct pw_core *core, struct spa_hook *hook,
                                        const struct pw_core_events *events, void *data) {
  pw_core_add_listener(core, hook, events, data);
}
static inline void pipewire_listen_registry(struct pw_registry *registry, struct spa_hook *hook,
                                            const struct pw_registry_events *events, void *data) {
  pw_registry_add_listener(registry, hook, events, data);
}
static inline void *pipewire_bind(struct pw_registry *registry, uint32_t id, const char *type,
                                  uint32_t version) {
  return pw_registry_bind(registry, id, type, version, 0);
}
static inline void pipewire_listen_node(void *node, struct spa_hook *hook,
                                        const struct pw_node_events *events, void *data) {
  pw_node_add_listener((struct pw_node *)node, hook, events, data);
}
static inline void pipewire_listen_device(void *device, struct spa_hook *hook,
                                          const struct pw_device_events *events, void *data) {
  pw_device_add_listener((struct pw_device *)device, hook, events, data);
}
static inline void pipewire_listen_metadata(void *metadata, struct spa_hook *hook,
                                            const struct pw_metadata_events *events, void *data) {
  pw_metadata_add_listener((struct pw_metadata *)metadata, hook, events, data);
}
/// Sets a property of the object `subject` in a metadata object. If `value` is NULL, removes the
/// property.
static inline void pipewire_set_metadata(void *metadata, uint32_t subject, const char *key,
                                         const char *type, const char *value) {
  pw_metadata_set_property((struct pw_metadata *)metadata, subject, key, type, value);
}
/// Asks for all values of a parameter of a node.
static inline void pipewire_enum_node(void *node, int sequence, uint32_t parameter) {
  pw_node_enum_params((struct pw_node *)node, sequence, parameter, 0, UINT32_MAX, NULL);
}
static inline void pipewire_enum_device(void *device, int sequence, uint32_t parameter) {
  pw_device_enum_params((struct pw_device *)device, sequence, parameter, 0, UINT32_MAX, NULL);
}
static inline void pipewire_remove_hook(struct spa_hook *hook) {
  if (hook->link.next) spa_hook_remove(hook);
  memset(hook, 0, sizeof *hook);
}

/// Returns the value of a key; NULL if the key is missing.
static inline const char *pipewire_value(const struct spa_dict *properties, const char *key) {
  return properties ? spa_dict_lookup(properties, key) : NULL;
}

// MARK: Parameters

/// Returns the format of interleaved float32 channels with these SPA positions, built in `memory`.
static inline const struct spa_pod *pipewire_interleaved(uint8_t *memory, uint32_t bytes,
                                                         uint32_t rate, const uint32_t *positions,
                                                         uint32_t channels) {
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, bytes);
  struct spa_audio_info_raw info;
  memset(&info, 0, sizeof info);
  info.format = SPA_AUDIO_FORMAT_F32;
  info.rate = rate;
  info.channels = SPA_MIN(channels, SPA_AUDIO_MAX_CHANNELS);
  for (uint32_t i = 0; i < info.channels; i++) info.position[i] = positions[i];
  return spa_format_audio_raw_build(&builder, SPA_PARAM_EnumFormat, &info);
}

/// Returns the format of interleaved float32 stereo, built in `memory`.
static inline const struct spa_pod *pipewire_stereo(uint8_t *memory, uint32_t bytes,
                                                    uint32_t rate) {
  const uint32_t positions[2] = {SPA_AUDIO_CHANNEL_FL, SPA_AUDIO_CHANNEL_FR};
  return pipewire_interleaved(memory, bytes, rate, positions, 2);
}

/// Reads the channel positions that a format states. Returns their number, at most `capacity`; 0 if
/// the format states none.
static inline uint32_t pipewire_read_positions(const struct spa_pod *format, uint32_t *positions,
                                               uint32_t capacity) {
  const struct spa_pod_prop *property;
  if (!format || !spa_pod_is_object(format)) return 0;
  property = spa_pod_find_prop(format, NULL, SPA_FORMAT_AUDIO_position);
  if (!property) return 0;
  uint32_t count, choice;
  const struct spa_pod *value = spa_pod_get_values(&property->value, &count, &choice);
  if (!count || !spa_pod_is_array(value)) return 0;
  return spa_pod_copy_array(value, SPA_TYPE_Id, positions, capacity);
}

/// Reads a latency. Returns false if the parameter is not a latency.
static inline bool pipewire_read_latency(const struct spa_pod *parameter,
                                         struct spa_latency_info *latency) {
  return parameter && spa_latency_parse(parameter, latency) >= 0;
}

/// Reports `latency`, increased by `added` nanoseconds, as the latency of a stream's port.
static inline void pipewire_report_latency(const struct pipewire_library *library,
                                           struct pw_stream *stream,
                                           struct spa_latency_info latency, int64_t added) {
  uint8_t memory[512];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
  latency.min_ns += added;
  latency.max_ns += added;
  const struct spa_pod *parameter = spa_latency_build(&builder, SPA_PARAM_Latency, &latency);
  library->pw_stream_update_params(stream, &parameter, 1);
}

/// Reads the rate and the number of channels of a format. If the format offers a choice, its
/// default is read. A value that the format does not state is 0.
static inline void pipewire_read_format(const struct spa_pod *format, int32_t *rate,
                                        int32_t *channels) {
  *rate = 0;
  *channels = 0;
  const struct spa_pod_prop *property;
  if (!spa_pod_is_object(format)) return;
  SPA_POD_OBJECT_FOREACH((const struct spa_pod_object *)format, property) {
    uint32_t count, choice;
    const struct spa_pod *value = spa_pod_get_values(&property->value, &count, &choice);
    if (!count || value->type != SPA_TYPE_Int) continue;
    int32_t first = *(const int32_t *)SPA_POD_BODY_CONST(value);
    if (property->key == SPA_FORMAT_AUDIO_rate) *rate = first;
    if (property->key == SPA_FORMAT_AUDIO_channels) *channels = first;
  }
}

/// A route of a device: a port of its sinks or sources.
struct pipewire_route {
  int32_t index;
  uint32_t direction;
  /// For an active route, the number of the device within the card; -1 in an enumeration.
  int32_t device;
  const char *name;
  const char *description;
  uint32_t available;
  /// The value of "port.type"; NULL if unknown.
  const char *type;
  /// The numbers of the devices within the card that have this route.
  const int32_t *devices;
  uint32_t device_count;
};

/// Reads a route. Its texts and `devices` belong to the pod. Returns false if the pod is not a
/// route.
static inline bool pipewire_read_route(const struct spa_pod *pod, struct pipewire_route *route) {
  memset(route, 0, sizeof *route);
  route->device = -1;
  struct spa_pod *info = NULL, *devices = NULL;
  if (spa_pod_parse_object(
          pod, SPA_TYPE_OBJECT_ParamRoute, NULL,
          SPA_PARAM_ROUTE_index, SPA_POD_Int(&route->index),
          SPA_PARAM_ROUTE_direction, SPA_POD_Id(&route->direction),
          SPA_PARAM_ROUTE_device, SPA_POD_OPT_Int(&route->device),
          SPA_PARAM_ROUTE_name, SPA_POD_String(&route->name),
          SPA_PARAM_ROUTE_description, SPA_POD_OPT_String(&route->description),
          SPA_PARAM_ROUTE_available, SPA_POD_OPT_Id(&route->available),
          SPA_PARAM_ROUTE_info, SPA_POD_OPT_Pod(&info),
          SPA_PARAM_ROUTE_devices, SPA_POD_OPT_Pod(&devices)) < 0)
    return false;
  if (devices) {
    uint32_t count = 0;
    const void *values = spa_pod_get_array(devices, &count);
    if (values && SPA_POD_ARRAY_VALUE_TYPE(devices) == SPA_TYPE_Int) {
      route->devices = (const int32_t *)values;
      route->device_count = count;
    }
  }
  if (info) {
    struct spa_pod_parser parser;
    struct spa_pod_frame frame;
    int32_t count = 0;
    spa_pod_parser_pod(&parser, info);
    if (spa_pod_parser_push_struct(&parser, &frame) >= 0 &&
        spa_pod_parser_get_int(&parser, &count) >= 0) {
      for (int32_t i = 0; i < count; i++) {
        const char *key, *value;
        if (spa_pod_parser_get_string(&parser, &key) < 0 ||
            spa_pod_parser_get_string(&parser, &value) < 0)
          break;
        if (!strcmp(key, "port.type")) route->type = value;
      }
    }
  }
  return true;
}
