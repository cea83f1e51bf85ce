#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes seeds for the fuzzer: valid reports of every family, in the form that
Tests/HeadTrackingTests/Devices/ReportFuzz.swift reads; and packets of other trackers, profiles and
a list of MIDI ports in the form that Tests/TrackerFuzzTests/LinkFuzz.swift reads.

usage: make_fuzz_corpus.py FOLDER LINKS_FOLDER
"""
import json
import os
import struct
import sys

sys.dont_write_bytecode = True
VIRTUAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Calibration/virtual-tracker")
sys.path.insert(1, VIRTUAL)
from imu_families import DEGREE, FAMILIES, G, Wave, right_front_up, right_up_back, shorts  # noqa: E402
from imu_glasses import GLASSES  # noqa: E402
import tracker_reports as android  # noqa: E402

folder = sys.argv[1]


def write(name, target, how, body):
    with open(os.path.join(folder, name), "wb") as f:
        f.write(bytes([target, how]) + body)


def record(data):
    return bytes([min(len(data), 255)]) + data[:255]


def reports(family, count=4):
    return b"".join(record(family.report(10**12 + n * 4_000_000)) for n in range(count))


for name, target, how, bus in [
    ("xreal", 3, 0, "usb"), ("dualsense", 4, 0, "usb"), ("dualsense", 4, 0, "bluetooth"),
    ("dualshock4", 5, 0, "usb"), ("dualshock4", 5, 1, "bluetooth"), ("switch-pro", 6, 0, "usb"),
    ("joycon-right", 7, 0, "bluetooth"), ("rift-dk1", 8, 0, "usb"), ("rift-dk2", 9, 0, "usb"),
    ("rift-cv1", 10, 0, "usb"), ("psvr", 11, 0, "usb"), ("hdk", 12, 0, "usb"),
]:
    family = FAMILIES[name](Wave(), bus)
    family.configured = True
    answers = b"".join(record(f) for f in family.features.values())
    if name == "xreal":
        for message, data in ((0x19, b"\0"), (0x14, b""), (0x15, b""), (0x15, b"")):
            import zlib
            body = struct.pack("<HB", 3 + len(data), message) + data
            family.output(b"\xAA" + struct.pack("<I", zlib.crc32(body)) + body.ljust(59, b"\0"), 0)
            answers += record(family.replies.pop())
    write("%s-%s" % (name, bus), target, how, answers + reports(family))

for name, target in [
    ("rayneo", 14), ("viture-sensor", 15), ("viture-pose", 16), ("viture-angles", 16), ("rokid", 17),
    ("rokid-max2", 18),
]:
    family = GLASSES[name](Wave(), "usb")
    answers = b""
    if name == "rayneo":
        for command in (0x00, 0x3C):
            family.output(bytes([0x66, command]).ljust(64, b"\0"), 0)
            answers += record(family.replies.pop())
    write(name + "-usb", target, 0, answers + reports(family))

text, layout = android.layout("example", 1)
write("descriptor", 0, 0, android.descriptor(layout))
features = record(android.pack(2, layout[(android.FEATURE, 2)], {android.DESCRIPTION: list(text.encode())}))
write("android", 1, 0, android.descriptor(layout) + bytes(5) + features * 2 + record(bytes(14)) * 3)
write("calibration", 2, 0, json.dumps({"IMU": {"device_1": {
    "gyro_bias": [0.01, -0.02, 0.003], "accel_bias": [0.1, 0.2, 0.3], "x": True}}}).encode())
angles = FAMILIES["angles"](Wave(), "usb")
write("profile-usages", 13, 0x87, angles.descriptor + bytes(5) + reports(angles))
write("profile-bytes", 13, 0, bytes(5) + reports(FAMILIES["bytes"](Wave(), "usb")))


def link(name, target, packet, count):
    body = b"".join(record(packet(n)) for n in range(count))
    for how in (0, 1):
        with open(os.path.join(sys.argv[2], "%s-%d" % (name, how)), "wb") as f:
            f.write(bytes([target, how]) + body)


def nx(n):
    w, x, y, z = Wave().quaternion(n * 0.01)
    return shorts([v * 16384 for v in (-y, x, z, w)]) + b"\0\3"


def dot(n):
    rate = [v / DEGREE for v in Wave().rate(n * 0.01)]
    return struct.pack("<I7f", n * 16667, *Wave().quaternion(n * 0.01), *rate)


def wit(n):
    force = [v / G / 16 * 32768 for v in right_front_up(Wave().force(n * 0.01))]
    rate = [v / DEGREE / 2000 * 32768 for v in right_front_up(Wave().rate(n * 0.01))]
    return b"\x55\x61" + shorts(force + rate) + bytes(6)


def xreal_one(n):
    data = bytearray(134)
    data[0:6] = bytes.fromhex("283600000080")
    data[14:22] = struct.pack("<Q", n * 10**7)
    data[34:46] = struct.pack("<3f", *right_up_back(Wave().rate(n * 0.01)))
    data[46:58] = struct.pack("<3f", *right_up_back(Wave().force(n * 0.01)))
    data[78:84] = bytes.fromhex("00401f000040")
    return bytes(data)


link("nx", 0, nx, 8)
link("dot", 1, dot, 8)
link("wit", 2, wit, 8)
link("xreal-one", 3, xreal_one, 60)


def write_link(name, target, how, body):
    with open(os.path.join(sys.argv[2], name), "wb") as f:
        f.write(bytes([target, how]) + body)


def sum8(body, start):
    return body + bytes([sum(body[start:]) & 0xFF])


def supperware(form, values):
    bits = [round(value * 2048) & 0x3FFF for value in values]
    data = b"".join(bytes([value >> 7, value & 0x7F]) for value in bits)
    return bytes.fromhex("F000214240") + bytes([form]) + data + b"\xF7"


def controllers(upper, lower, values, channel=0):
    pairs = ((cc, round(value)) for cc, value in enumerate(values))
    return b"".join(
        bytes([0xB0 | channel, lower + cc, value & 0x7F, 0xB0 | channel, upper + cc, value >> 7])
        for cc, value in pairs)


def quaternions(n):
    w, x, y, z = Wave().quaternion(n * 0.01)
    return w, -y, x, z


messages = [supperware(1, quaternions(n)) for n in range(6)]
write_link("supperware-0", 4, 0, b"".join(record(m) for m in messages))
angles_and_matrix = supperware(0, (0.5, -0.1, 3.1)) + supperware(2, (1, 0, 0, 0, 1, 0, 0, 0, 1))
split = messages[0][:7] + b"\xF8" + messages[0][7:] + angles_and_matrix + messages[1][:9] + messages[2]
write_link("supperware-1", 4, 0, b"".join(record(split[at:at + 11]) for at in range(0, len(split), 11)))
for form, count in ((0, 4), (1, 4), (2, 3)):
    packets = [
        controllers(16, 48, [(v + 1) * 8191 for v in quaternions(n * 5)][:count]) for n in range(6)]
    write_link("mrheadtracker-%d" % form, 5, form, b"".join(record(p) for p in packets))
write_link("sysex-profile", 6, 0, record(bytes.fromhex("F07D010203040506F7")) * 3)
write_link("controller-profile", 7, 0, b"".join(
    record(controllers(16, 48, [n * 100]) + controllers(17, 49, [n * 90], 1)) for n in range(6)))

rvc = sum8(bytes.fromhex("AAAADE010092FF25088DFEECFFD103000000"), 2)
wit_serial = b"".join(
    sum8(b"\x55" + kind + bytes.fromhex("0040002000100058"), 0) for kind in (b"\x51", b"\x52", b"\x59"))
STREAMS = {
    "nvsonic": b"0.6035,-0.5409, 0.3667,-0.4568; ", "razor": b"#YPR=-142.28,-5.38,33.52\r\n",
    "hatire": bytes.fromhex("AAAA0700") + b"\x3E" * 24 + b"\x55\x55", "witmotion": wit_serial,
    "witmotion-quaternion": wit_serial, "bno085-rvc": rvc, "quaternion-text": b"1.0, 0.0, 0, 1e-3\n",
    "ypr-text": b"10.5,-3,2\n",
}
for name, piece in STREAMS.items():
    with open(os.path.join(VIRTUAL, "../trackers", name + ".json"), "rb") as f:
        text = f.read()
    write_link("profile-" + name, 8, 0, text + bytes(5) + record(piece * 2) + record(piece))


def midi_profile(frame, first, second):
    signals = {name: dict(place, scale=0.001) for name, place in (("yaw", first), ("pitch", second))}
    text = {"schema": 1, "name": "midi", "link": "midi", "midi": {"port": "My"}, "frame": frame,
            "signals": signals, "keepAlive": {"bytes": ["F0 7D F7"], "seconds": 1}}
    return json.dumps(text).encode() + bytes(5)


write_link("profile-midi-sysex", 8, 0, midi_profile(
    {"sync": "F0 7D", "length": 9}, {"byte": 2, "type": "i14be"}, {"byte": 4, "type": "u14"})
    + record(bytes.fromhex("F07D010203040506F7")) * 3)
write_link("profile-midi-controllers", 8, 0, midi_profile(
    {"controllers": True, "gap": 1}, {"controller": 16, "low": 48}, {"controller": 17, "low": 49})
    + record(controllers(16, 48, [100, 9000])) * 3)
write_link("sequencer-clients", 9, 0, b"""Client info
  cur  clients : 4

Client   0 : "System" [Kernel Legacy]
  Port   0 : "Timer" (Rwe-) [In/Out]
  Port   1 : "Announce" (R-e-) [In/Out]
    Connecting To: 15:0
Client  28 : "Head "quoted" (R) Tracker" [Kernel]
  Port   0 : "Head Tracker MIDI 1" (RWeX) [In/Out]
""")
