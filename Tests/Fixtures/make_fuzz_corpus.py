#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes seeds for the fuzzer: valid reports of every family, in the form that
Tests/HeadTrackingTests/Devices/ReportFuzz.swift reads, and packets of Bluetooth LE and TCP trackers
in the form that Tests/BluetoothTrackingTests/LinkFuzz.swift reads.

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
