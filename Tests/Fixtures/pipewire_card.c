// SPDX-License-Identifier: Apache-2.0
// A sound card for a PipeWire server.
//
// usage: pipewire_card              a device with the routes "headphones", which is active, and "speaker", and its sink
//                                   "phones"
//        pipewire_card headset      a Bluetooth headset: the profile a2dp-sink, which is active, and headset-head-unit, with
//                                   the codecs CVSD, which is active, and mSBC. Its microphone is silent.
//        pipewire_card slow         the same, but the codecs of a new profile are announced after 300 ms
//        pipewire_card broken       as headset, but there is no microphone in the profile headset-head-unit
//
// Commands on the standard input, one a line:
//
// speaker, headphones   selects a route
// volume                announces the active route again, as after a change of the volume
//
// Build: cc -O2 -o pipewire_card pipewire_card.c $(pkg-config --cflags --libs libpipewire-0.3)
#include <pipewire/pipewire.h>
#include <spa/monitor/device.h>
#include <spa/monitor/utils.h>
#include <spa/param/bluetooth/audio.h>
#include <spa/param/param.h>
#include <spa/param/props.h>
#include <spa/pod/builder.h>
#include <spa/pod/parser.h>
#include <spa/utils/hook.h>
#include <stdio.h>
#include <string.h>

static struct {
  struct pw_main_loop *loop;
  struct pw_core *core;
  struct pw_proxy *device_proxy, *sink, *source;
  struct spa_device device;
  struct spa_hook_list hooks;
  struct spa_param_info params[6];
  struct pw_properties *properties;
  uint32_t id;
  struct spa_source *timer;
  bool is_headset, is_broken, is_slow;
  /// The active route, the active profile, the profile whose codecs are announced, and the codec of the microphone.
  int active, profile, codec_profile, codec;
} card;

static const char *const names[2] = {"headphones", "speaker"};

static void announce(void) {
  struct spa_device_info info = SPA_DEVICE_INFO_INIT();
  info.change_mask = SPA_DEVICE_CHANGE_MASK_PROPS | SPA_DEVICE_CHANGE_MASK_PARAMS;
  info.props = &card.properties->dict;
  info.params = card.params;
  info.n_params = SPA_N_ELEMENTS(card.params);
  spa_device_emit_info(&card.hooks, &info);
}

/// Announces new values of all parameters but the list of profiles. After a change of that list, the session manager would
/// select its favourite profile.
static void announce_change(void) {
  for (size_t index = 0; index < SPA_N_ELEMENTS(card.params); index++)
    if (card.params[index].id != SPA_PARAM_EnumProfile) card.params[index].flags ^= SPA_PARAM_INFO_SERIAL;
  announce();
}

static struct spa_pod *route(struct spa_pod_builder *builder, uint32_t id, int index) {
  int32_t devices[] = {0};
  struct spa_pod_frame object, info;
  spa_pod_builder_push_object(builder, &object, SPA_TYPE_OBJECT_ParamRoute, id);
  spa_pod_builder_add(
    builder, SPA_PARAM_ROUTE_index, SPA_POD_Int(index), SPA_PARAM_ROUTE_direction, SPA_POD_Id(SPA_DIRECTION_OUTPUT),
    SPA_PARAM_ROUTE_name, SPA_POD_String(names[index]), SPA_PARAM_ROUTE_description, SPA_POD_String(names[index]),
    SPA_PARAM_ROUTE_priority, SPA_POD_Int(100 - index), SPA_PARAM_ROUTE_available,
    SPA_POD_Id(index == card.active ? SPA_PARAM_AVAILABILITY_yes : SPA_PARAM_AVAILABILITY_no), 0);
  spa_pod_builder_prop(builder, SPA_PARAM_ROUTE_info, 0);
  spa_pod_builder_push_struct(builder, &info);
  spa_pod_builder_int(builder, 1);
  spa_pod_builder_string(builder, "port.type");
  spa_pod_builder_string(builder, names[index]);
  spa_pod_builder_pop(builder, &info);
  if (id == SPA_PARAM_Route) spa_pod_builder_add(builder, SPA_PARAM_ROUTE_device, SPA_POD_Int(0), 0);
  spa_pod_builder_add(
    builder, SPA_PARAM_ROUTE_devices, SPA_POD_Array(sizeof(int32_t), SPA_TYPE_Int, 1, devices),
    SPA_PARAM_ROUTE_profiles, SPA_POD_Array(sizeof(int32_t), SPA_TYPE_Int, 1, devices), 0);
  return spa_pod_builder_pop(builder, &object);
}

static void add_class(struct spa_pod_builder *builder, const char *name) {
  struct spa_pod_frame entry;
  int32_t devices[] = {0};
  spa_pod_builder_push_struct(builder, &entry);
  spa_pod_builder_string(builder, name);
  spa_pod_builder_int(builder, 1);
  spa_pod_builder_string(builder, "card.profile.devices");
  spa_pod_builder_array(builder, sizeof(int32_t), SPA_TYPE_Int, 1, devices);
  spa_pod_builder_pop(builder, &entry);
}

/// A profile. A card that is no headset has only the first one, because PipeWire's PulseAudio server needs one.
static struct spa_pod *profile(struct spa_pod_builder *builder, uint32_t id, int index) {
  static const char *const profiles[2] = {"a2dp-sink", "headset-head-unit"};
  const char *name = card.is_headset ? profiles[index] : "on";
  struct spa_pod_frame object, classes;
  spa_pod_builder_push_object(builder, &object, SPA_TYPE_OBJECT_ParamProfile, id);
  spa_pod_builder_add(
    builder, SPA_PARAM_PROFILE_index, SPA_POD_Int(index), SPA_PARAM_PROFILE_name, SPA_POD_String(name),
    SPA_PARAM_PROFILE_description, SPA_POD_String(name), SPA_PARAM_PROFILE_priority, SPA_POD_Int(10 - index),
    SPA_PARAM_PROFILE_available, SPA_POD_Id(SPA_PARAM_AVAILABILITY_yes), 0);
  spa_pod_builder_prop(builder, SPA_PARAM_PROFILE_classes, 0);
  spa_pod_builder_push_struct(builder, &classes);
  spa_pod_builder_int(builder, 1 + index);
  add_class(builder, "Audio/Sink");
  if (index) add_class(builder, "Audio/Source");
  spa_pod_builder_pop(builder, &classes);
  return spa_pod_builder_pop(builder, &object);
}

/// The codecs of the profile `codec_profile`.
static struct spa_pod *codecs(struct spa_pod_builder *builder, uint32_t id) {
  static const struct {
    uint32_t id;
    const char *name;
  } all[] = {
    {SPA_BLUETOOTH_AUDIO_CODEC_SBC, "SBC"}, {SPA_BLUETOOTH_AUDIO_CODEC_CVSD, "CVSD"},
    {SPA_BLUETOOTH_AUDIO_CODEC_MSBC, "mSBC"}};
  int first = card.codec_profile ? 1 : 0, last = card.codec_profile ? 2 : 0;
  struct spa_pod_frame object, inner;
  spa_pod_builder_push_object(builder, &object, SPA_TYPE_OBJECT_PropInfo, id);
  spa_pod_builder_add(builder, SPA_PROP_INFO_id, SPA_POD_Id(SPA_PROP_bluetoothAudioCodec), 0);
  spa_pod_builder_prop(builder, SPA_PROP_INFO_type, 0);
  spa_pod_builder_push_choice(builder, &inner, SPA_CHOICE_Enum, 0);
  spa_pod_builder_int(builder, (int)all[first].id);
  for (int index = first; index <= last; index++) spa_pod_builder_int(builder, (int)all[index].id);
  spa_pod_builder_pop(builder, &inner);
  spa_pod_builder_prop(builder, SPA_PROP_INFO_labels, 0);
  spa_pod_builder_push_struct(builder, &inner);
  for (int index = first; index <= last; index++) {
    spa_pod_builder_int(builder, all[index].id);
    spa_pod_builder_string(builder, all[index].name);
  }
  spa_pod_builder_pop(builder, &inner);
  return spa_pod_builder_pop(builder, &object);
}

static struct spa_pod *codec(struct spa_pod_builder *builder, uint32_t id) {
  uint32_t now = card.codec_profile ? (uint32_t)card.codec : SPA_BLUETOOTH_AUDIO_CODEC_SBC;
  return spa_pod_builder_add_object(
    builder, SPA_TYPE_OBJECT_Props, id, SPA_PROP_bluetoothAudioCodec, SPA_POD_Id(now));
}

static int add_listener(void *object, struct spa_hook *listener, const struct spa_device_events *events, void *data) {
  (void)object;
  struct spa_hook_list saved;
  spa_hook_list_isolate(&card.hooks, &saved, listener, events, data);
  announce();
  spa_hook_list_join(&card.hooks, &saved);
  return 0;
}

static int synchronise(void *object, int sequence) {
  (void)object;
  spa_device_emit_result(&card.hooks, sequence, 0, 0, NULL);
  return 0;
}

static struct spa_pod *parameter(struct spa_pod_builder *builder, uint32_t id, uint32_t index) {
  uint32_t profiles = card.is_headset ? 2 : 1;
  switch (id) {
  case SPA_PARAM_EnumRoute: return index < 2 && !card.is_headset ? route(builder, id, (int)index) : NULL;
  case SPA_PARAM_Route: return index < 1 && !card.is_headset ? route(builder, id, card.active) : NULL;
  case SPA_PARAM_EnumProfile: return index < profiles ? profile(builder, id, (int)index) : NULL;
  case SPA_PARAM_Profile: return index < 1 ? profile(builder, id, card.profile) : NULL;
  case SPA_PARAM_PropInfo: return index < 1 && card.is_headset ? codecs(builder, id) : NULL;
  case SPA_PARAM_Props: return index < 1 && card.is_headset ? codec(builder, id) : NULL;
  default: return NULL;
  }
}

static int enum_params(
  void *object, int sequence, uint32_t id, uint32_t start, uint32_t most, const struct spa_pod *filter) {
  (void)object, (void)filter;
  for (uint32_t index = start; index - start < most; index++) {
    uint8_t memory[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof memory);
    struct spa_result_device_params result = {.id = id, .index = index, .next = index + 1};
    result.param = parameter(&builder, id, index);
    if (!result.param) break;
    spa_device_emit_result(&card.hooks, sequence, 0, SPA_RESULT_TYPE_DEVICE_PARAMS, &result);
  }
  return 0;
}

static struct pw_proxy *make_node(const char *name, const char *class, const char *position) {
  struct pw_properties *properties = pw_properties_new(
    PW_KEY_FACTORY_NAME, "support.null-audio-sink", PW_KEY_NODE_NAME, name, PW_KEY_NODE_DESCRIPTION, name,
    PW_KEY_MEDIA_CLASS, class, "audio.position", position, "audio.rate", "48000", "monitor.channel-volumes", "true",
    "card.profile.device", "0", NULL);
  pw_properties_setf(properties, PW_KEY_DEVICE_ID, "%u", card.id);
  struct pw_proxy *node =
    pw_core_create_object(card.core, "adapter", PW_TYPE_INTERFACE_Node, PW_VERSION_NODE, &properties->dict, 0);
  pw_properties_free(properties);
  return node;
}

static void announce_codecs(void *data, uint64_t count) {
  (void)data, (void)count;
  card.codec_profile = card.profile;
  announce_change();
}

static void select_profile(int index) {
  card.profile = index;
  card.codec = SPA_BLUETOOTH_AUDIO_CODEC_CVSD;
  if (card.source) pw_proxy_destroy(card.source);
  card.source = NULL;
  if (index == 1 && !card.is_broken)
    card.source = make_node("bluez_input.00_11_22_33_44_55.headset-head-unit", "Audio/Source/Virtual", "MONO");
  if (card.is_slow) {
    struct timespec delay = {.tv_nsec = 300 * 1000 * 1000};
    pw_loop_update_timer(pw_main_loop_get_loop(card.loop), card.timer, &delay, NULL, false);
  } else
    card.codec_profile = index;
  announce_change();
}

/// The routes follow the commands only, although the session manager may restore one.
static int set_param(void *object, uint32_t id, uint32_t flags, const struct spa_pod *value) {
  (void)object, (void)flags;
  int32_t index = -1;
  uint32_t number = 0;
  if (!card.is_headset || !value) return 0;
  if (id == SPA_PARAM_Profile &&
      spa_pod_parse_object(value, SPA_TYPE_OBJECT_ParamProfile, NULL, SPA_PARAM_PROFILE_index, SPA_POD_Int(&index)) >= 0 &&
      (index == 0 || index == 1) && index != card.profile)
    select_profile(index);
  if (id == SPA_PARAM_Props &&
      spa_pod_parse_object(
        value, SPA_TYPE_OBJECT_Props, NULL, SPA_PROP_bluetoothAudioCodec, SPA_POD_OPT_Id(&number)) >= 0 &&
      number >= SPA_BLUETOOTH_AUDIO_CODEC_CVSD) {
    card.codec = (int)number;
    announce_change();
  }
  return 0;
}

static const struct spa_device_methods methods = {
  SPA_VERSION_DEVICE_METHODS, .add_listener = add_listener, .sync = synchronise, .enum_params = enum_params,
  .set_param = set_param};

/// Creates the sink once the number of the device on the server is known.
static void bound(void *data, uint32_t id) {
  (void)data;
  if (card.sink) return;
  card.id = id;
  card.sink = make_node(card.is_headset ? "bluez_output.00_11_22_33_44_55.1" : "phones", "Audio/Sink", "FL,FR");
  puts("ready");
  fflush(stdout);
}

static const struct pw_proxy_events proxy_events = {PW_VERSION_PROXY_EVENTS, .bound = bound};

static void command(void *data, int descriptor, uint32_t mask) {
  (void)data, (void)descriptor;
  char line[64];
  if ((mask & (SPA_IO_HUP | SPA_IO_ERR)) && !(mask & SPA_IO_IN)) {
    pw_main_loop_quit(card.loop);
    return;
  }
  if (!fgets(line, sizeof line, stdin)) {
    pw_main_loop_quit(card.loop);
    return;
  }
  for (int index = 0; index < 2; index++)
    if (strncmp(line, names[index], strlen(names[index])) == 0) card.active = index;
  announce_change();
}

int main(int argc, char *argv[]) {
  pw_init(&argc, &argv);
  card.is_broken = argc > 1 && strcmp(argv[1], "broken") == 0;
  card.is_slow = argc > 1 && strcmp(argv[1], "slow") == 0;
  card.is_headset = card.is_broken || card.is_slow || (argc > 1 && strcmp(argv[1], "headset") == 0);
  setvbuf(stdin, NULL, _IONBF, 0);
  card.loop = pw_main_loop_new(NULL);
  card.timer = pw_loop_add_timer(pw_main_loop_get_loop(card.loop), announce_codecs, NULL);
  struct pw_context *context = pw_context_new(pw_main_loop_get_loop(card.loop), NULL, 0);
  card.core = context ? pw_context_connect(context, NULL, 0) : NULL;
  if (!card.core) return 1;
  spa_hook_list_init(&card.hooks);
  card.device.iface = SPA_INTERFACE_INIT(SPA_TYPE_INTERFACE_Device, SPA_VERSION_DEVICE, &methods, &card);
  card.params[0] = SPA_PARAM_INFO(SPA_PARAM_EnumRoute, SPA_PARAM_INFO_READ);
  card.params[1] = SPA_PARAM_INFO(SPA_PARAM_Route, SPA_PARAM_INFO_READWRITE);
  card.params[2] = SPA_PARAM_INFO(SPA_PARAM_EnumProfile, SPA_PARAM_INFO_READ);
  card.params[3] = SPA_PARAM_INFO(SPA_PARAM_Profile, SPA_PARAM_INFO_READWRITE);
  card.params[4] = SPA_PARAM_INFO(SPA_PARAM_PropInfo, SPA_PARAM_INFO_READ);
  card.params[5] = SPA_PARAM_INFO(SPA_PARAM_Props, SPA_PARAM_INFO_READWRITE);
  const char *name = card.is_headset ? "bluez_card.00_11_22_33_44_55" : "test_card";
  card.properties = pw_properties_new(
    PW_KEY_MEDIA_CLASS, "Audio/Device", PW_KEY_DEVICE_NAME, name, PW_KEY_DEVICE_DESCRIPTION, "Test card", NULL);
  if (card.is_headset) {
    pw_properties_set(card.properties, PW_KEY_DEVICE_API, "bluez5");
    pw_properties_set(card.properties, PW_KEY_DEVICE_BUS, "bluetooth");
  }
  card.device_proxy =
    pw_core_export(card.core, SPA_TYPE_INTERFACE_Device, &card.properties->dict, &card.device, 0);
  if (!card.device_proxy) return 1;
  struct spa_hook hook;
  spa_zero(hook);
  pw_proxy_add_listener(card.device_proxy, &hook, &proxy_events, NULL);
  pw_loop_add_io(pw_main_loop_get_loop(card.loop), 0, SPA_IO_IN | SPA_IO_HUP, false, command, NULL);
  pw_main_loop_run(card.loop);
  return 0;
}
