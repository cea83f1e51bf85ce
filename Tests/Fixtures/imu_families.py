# SPDX-License-Identifier: Apache-2.0
"""The reports that virtual sensors of each family send for a known motion.

Written from the public descriptions of the devices, independently of the drivers that it tests. A
family has ids, a descriptor, features, and `report(now)`; `now` is in CLOCK_MONOTONIC nanoseconds.
Axes: x front, y left, z up.
"""
import json
import math
import struct
import zlib

from tracker_reports import from_angles, multiply, rotation_vector

G = 9.80665
DEGREE = math.pi / 180
FIELD = (20.0, 0.0, -40.0)


class Wave:
    """A head that never rests. Angles in degrees: yaw left, pitch up, roll right ear down."""

    def angles(self, t):
        return (
            40 * math.sin(2 * math.pi * 0.2 * t),
            20 * math.sin(2 * math.pi * 0.31 * t + 1),
            15 * math.sin(2 * math.pi * 0.23 * t + 2),
        )

    def quaternion(self, t):
        return from_angles(*self.angles(t))

    def rate(self, t):
        a, b = self.quaternion(t - 1e-3), self.quaternion(t + 1e-3)
        turn = rotation_vector(multiply(conjugate(a), b))
        return tuple(v / 2e-3 for v in turn)

    def seen(self, t, vector):
        """A vector of the world in the head's axes."""
        q = self.quaternion(t)
        return multiply(multiply(conjugate(q), (0,) + tuple(vector)), q)[1:]

    def force(self, t):
        return self.seen(t, (0, 0, G))

    def field(self, t):
        return self.seen(t, FIELD)


class Still(Wave):
    """A head that holds 30, 20, -10."""

    def angles(self, t):
        return (30, 20, -10)


def conjugate(q):
    return (q[0], -q[1], -q[2], -q[3])


def right_up_back(v):
    return (-v[1], v[2], -v[0])


def right_front_up(v):
    return (-v[1], v[0], v[2])


def shorts(values):
    return struct.pack("<%dh" % len(values), *(max(-32768, min(32767, round(v))) for v in values))


def item(usage_page, usage, reports, numbered=True):
    """A descriptor of byte arrays: (kind, id, bytes), kind 0x81 input, 0x91 output, 0xB1 feature."""
    d = bytes([0x06]) + struct.pack("<H", usage_page) + bytes([0x09, usage, 0xA1, 0x01])
    for kind, number, size in reports:
        if numbered:
            d += bytes([0x85, number])
        d += bytes([0x09, 0x20, 0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08])
        d += bytes([0x96]) + struct.pack("<H", size) + bytes([kind, 0x02])
    return d + b"\xC0"


class Family:
    vendor, model, rate, interface = 0, 0, 100, 3
    product = "Virtual Sensor"
    nodes = 1

    def __init__(self, motion, bus):
        self.motion, self.bus = motion, bus
        self.button = False
        self.reset(0)

    def reset(self, now):
        """Switched on."""
        self.features = {}
        self.started = True
        self.replies = []

    def set_feature(self, data):
        return 32

    def output(self, data, node):
        return False

    def ticks(self, now, nanoseconds, bits):
        """A clock that comes round about one second after it is asked first."""
        if not hasattr(self, "origin"):
            self.origin = now + 1_000_000_000
        return int((now - self.origin) / nanoseconds) % (1 << bits)


class DualSense(Family):
    vendor, model, rate, product = 0x054C, 0x0CE6, 250, "DualSense Wireless Controller"
    gyro_bias, gyro_ends = (12, -7, 5), ((8847, -8853), (8870, -8810), (8800, -8900))
    speed = (540, 540)
    accel_ends = ((8200, -8180), (8150, -8230), (8100, -8300))
    tick, tick_bits = 1000 / 3, 32
    descriptor = item(0x01, 0x05, [(0x81, 1, 63), (0x81, 0x31, 77), (0xB1, 5, 40)])

    def reset(self, now):
        super().reset(now)
        self.features = {0x05: self.calibration("pairs", 41, 0x05)}

    def calibration(self, order, size, number):
        ends = [v for pair in self.gyro_ends for v in pair]
        if order == "ends":
            ends = ends[0::2] + ends[1::2]
        values = list(self.gyro_bias) + ends + list(self.speed)
        values += [v for pair in self.accel_ends for v in pair]
        data = bytes([number]) + struct.pack("<%dh" % len(values), *values)
        data = data.ljust(size - (4 if size == 41 else 0), b"\0")
        if size == 41:
            data += struct.pack("<I", zlib.crc32(b"\xA3" + data))
        return data

    def counts(self, t):
        scales = [sum(self.speed) * DEGREE / (p - m) for p, m in self.gyro_ends]
        gyro = right_up_back(self.motion.rate(t))
        gyro = [g / s + b for g, s, b in zip(gyro, scales, self.gyro_bias)]
        force = right_up_back(self.motion.force(t))
        force = [
            f / (2 * G / (p - m)) + (p + m) / 2 for f, (p, m) in zip(force, self.accel_ends)
        ]
        return shorts(gyro), shorts(force)

    def report(self, now):
        gyro, force = self.counts(now * 1e-9)
        body = bytearray(63)
        body[9] = 1 if self.button else 0
        body[15:21], body[21:27] = gyro, force
        body[27:31] = struct.pack("<I", self.ticks(now, self.tick, 32))
        if self.bus == "usb":
            return b"\x01" + bytes(body)
        data = b"\x31\x10" + bytes(body) + bytes(9)
        return data + struct.pack("<I", zlib.crc32(b"\xA1" + data))


class CloneDualSense(DualSense):
    """No calibration worth the name."""

    gyro_bias, gyro_ends, speed = (0, 0, 0), ((0, 0),) * 3, (0, 0)
    accel_ends = ((0, 0),) * 3

    def counts(self, t):
        gyro = [g / (2000 / 32768 * DEGREE) for g in right_up_back(self.motion.rate(t))]
        force = [f / (4 / 32768 * G) for f in right_up_back(self.motion.force(t))]
        return shorts(gyro), shorts(force)


class DualShock4(DualSense):
    model, product = 0x09CC, "Wireless Controller"
    descriptor = item(
        0x01, 0x05, [(0x81, 1, 63), (0x81, 0x11, 77), (0xB1, 2, 36), (0xB1, 5, 40)]
    )

    def reset(self, now):
        super().reset(now)
        order = "pairs" if self.bus == "usb" else "ends"
        self.features = {0x02: self.calibration(order, 37, 0x02)}
        if self.bus != "usb":
            self.features[0x05] = self.calibration(order, 41, 0x05)

    def report(self, now):
        gyro, force = self.counts(now * 1e-9)
        body = bytearray(63)
        body[6] = 1 if self.button else 0
        body[9:11] = struct.pack("<H", self.ticks(now, 16000 / 3, 16))
        body[12:18], body[18:24] = gyro, force
        if self.bus == "usb":
            return b"\x01" + bytes(body)
        data = b"\x11\xC0\x00" + bytes(body) + bytes(8)
        return data + struct.pack("<I", zlib.crc32(b"\xA1" + data))


class XREAL(Family):
    vendor, model, rate, product = 0x3318, 0x0428, 1000, "XREAL Air 2"
    descriptor = item(0xFF00, 0x01, [(0x81, 0, 64), (0x91, 0, 64)], numbered=False)
    gyro_bias, accel_bias = (0.011, -0.007, 0.004), (0.12, -0.09, 0.05)
    rate_scale, force_scale = (2000, 1 << 23), (16, 1 << 23)

    def reset(self, now):
        super().reset(now)
        self.started = False
        text = {
            "FSN": "1", "IMU": {"device_1": {
                "accel_bias": self.accel_bias, "gyro_bias": self.gyro_bias,
                "mag_bias": [0, 0, 0], "accel_q_gyro": [0, 0, 0, 1], "imu_noises": [1e-3] * 4,
            }, "num_of_imus": 1}, "note": "\u00e9" * 200,
        }
        self.text, self.at = json.dumps(text).encode(), 0

    def output(self, data, node):
        head, crc, length, message = struct.unpack_from("<BIHB", data)
        body = data[5 : 5 + length]
        if head != 0xAA or crc != zlib.crc32(body):
            return False
        answer = b""
        if message == 0x19:
            self.started = data[8] == 1
            answer = data[8:9]
        elif message == 0x14:
            self.at, answer = 0, struct.pack("<I", len(self.text))
        elif message == 0x15:
            answer = self.text[self.at : self.at + 56]
            self.at += len(answer)
        body = struct.pack("<HB", 3 + len(answer), message) + answer
        self.replies.append((b"\xAA" + struct.pack("<I", zlib.crc32(body)) + body).ljust(64, b"\0"))
        return True

    @staticmethod
    def raw(v):
        """House axes to the chip's: front is -y, left is x, up is z."""
        return (v[1], -v[0], v[2])

    @staticmethod
    def biased(values, bias):
        """Before the correction: right-up-back gets (-b, +b, +b) added."""
        added = (bias[0], bias[2], bias[1])
        return tuple(v - a for v, a in zip(values, added))

    def report(self, now):
        t = now * 1e-9
        rate = self.biased(self.raw(self.motion.rate(t)), self.gyro_bias)
        force = self.biased(self.raw(self.motion.force(t)), self.accel_bias)
        data = bytearray(64)
        data[0:4] = b"\x01\x02\x00\x10"
        data[4:12] = struct.pack("<Q", (now + 10**13) % (1 << 64))

        def block(at, scale, values, unit):
            data[at : at + 6] = struct.pack("<HI", *scale)
            for i, v in enumerate(values):
                count = round(v / unit * scale[1] / scale[0])
                data[at + 6 + 3 * i : at + 9 + 3 * i] = struct.pack("<i", count)[:3]

        block(12, self.rate_scale, rate, DEGREE)
        block(27, self.force_scale, force, G)
        data[42:48] = struct.pack(">HI", 8, 32768)
        for i, v in enumerate(self.raw(self.motion.field(t))):
            count = round(v / 100 * 32768 / 8)
            data[48 + 2 * i : 50 + 2 * i] = struct.pack("<H", (count & 0xFFFF) ^ 0x8000)
        return bytes(data)


class SwitchPro(Family):
    vendor, model, rate, product = 0x057E, 0x2009, 1000 / 15, "Pro Controller"
    descriptor = item(
        0x01, 0x05,
        [(0x81, 0x30, 63), (0x81, 0x21, 63), (0x81, 0x81, 63), (0x91, 1, 48), (0x91, 0x80, 63)],
    )
    factory = (100, -60, 30, 16500, 16400, 16300, 20, -15, 9, 13400, 13350, 13500)
    user = None
    signs = (1, 1, 1)

    def reset(self, now):
        super().reset(now)
        self.sensor = self.full = False
        self.handshakes = []
        self.started = False

    def output(self, data, node):
        if data[0] == 0x80:
            self.handshakes.append(data[1])
            if data[1] in (2, 3):
                self.replies.append(bytes([0x81, data[1]]).ljust(64, b"\0"))
            return True
        if data[0] != 0x01 or data[2:10] != bytes.fromhex("0001404000014040"):
            return False
        command, answer = data[10], b""
        if command == 0x40:
            self.sensor = data[11] == 1
        elif command == 0x03:
            self.full = data[11] == 0x30
        elif command == 0x10:
            address, size = struct.unpack_from("<IB", data, 11)
            answer = data[11:16] + self.flash(address, size)
        self.started = self.sensor and self.full
        head = bytes([0x21, data[1]]) + bytes(11)
        self.replies.append((head + bytes([0x80, command]) + answer).ljust(64, b"\0"))
        return True

    def flash(self, address, size):
        memory = {0x6020: struct.pack("<12h", *self.factory), 0x8026: b"\xFF\xFF"}
        if self.user:
            memory[0x8026], memory[0x8028] = b"\xB2\xA1", struct.pack("<12h", *self.user)
        return memory.get(address, b"\xFF" * size)[:size]

    def report(self, now):
        c = self.user or self.factory
        data = bytearray(64)
        data[0] = 0x30
        data[4] = 0x10 if self.button else 0
        for index in range(3):
            t = (now - (2 - index) * 5_000_000) * 1e-9
            force = [s * v for s, v in zip(self.signs, self.motion.force(t))]
            rate = [s * v for s, v in zip(self.signs, self.motion.rate(t))]
            a = [v / (4 * G) * (c[3 + i] - c[i]) for i, v in enumerate(force)]
            g = [v / (936 * DEGREE) * (c[9 + i] - c[6 + i]) + c[6 + i] for i, v in enumerate(rate)]
            data[13 + 12 * index : 25 + 12 * index] = shorts(a) + shorts(g)
        return bytes(data)


class JoyConLeft(SwitchPro):
    model, product = 0x2006, "Joy-Con (L)"
    user = (0, 10, -20, 16384, 16390, 16400, 5, 6, 7, 13371, 13380, 13390)


class JoyConRight(SwitchPro):
    model, product, signs = 0x2007, "Joy-Con (R)", (1, -1, -1)


class BoundSwitchPro(SwitchPro):
    """The kernel's driver has it already: whatever is sent is a fight."""

    driver = "nintendo"
    factory = (0, 0, 0, 16384, 16384, 16384, 0, 0, 0, 13371, 13371, 13371)

    def reset(self, now):
        super().reset(now)
        self.started = True

    def output(self, data, node):
        self.started = False
        return True


def pack21(values):
    word = 0
    for v in values:
        word = word << 21 | (round(v / 1e-4) & 0x1FFFFF)
    return (word << 1).to_bytes(8, "big")


class RiftDK1(Family):
    vendor, model, rate, product = 0x2833, 0x0001, 500, "Tracker DK"
    descriptor = item(0xFF00, 0x01, [(0x81, 1, 61), (0xB1, 8, 4)])
    samples, keep_alive = 2, 0x08

    def reset(self, now):
        super().reset(now)
        self.started, self.alive_until, self.asked = False, 0, 0

    def set_feature(self, data):
        if data[0] != self.keep_alive or len(data) != len(self.wanted()):
            return 32
        if data != self.wanted():
            return 22
        self.started = True
        self.asked += 1
        return 0

    def wanted(self):
        return bytes([0x08, 0, 0]) + struct.pack("<H", 10000)

    def block(self, now, count, room):
        data = b""
        for index in range(count):
            t = (now - (count - 1 - index) * 1_000_000) * 1e-9
            data += pack21(right_up_back(self.motion.force(t)))
            data += pack21(right_up_back(self.motion.rate(t)))
        return data.ljust(16 * room, b"\0")

    def field(self, now):
        return shorts([v * 100 for v in right_up_back(self.motion.field(now * 1e-9))])

    def report(self, now):
        head = struct.pack("<BBHHh", 1, self.samples, self.ticks(now, 1e6, 16), 0, 3000)
        return head + self.block(now, self.samples, 3) + self.field(now)


class RiftDK2(RiftDK1):
    model, product, keep_alive = 0x0021, "Rift DK2", 0x11
    descriptor = item(0xFF00, 0x01, [(0x81, 11, 63), (0xB1, 2, 6), (0xB1, 0x11, 5)])

    def reset(self, now):
        super().reset(now)
        self.features = {2: struct.pack("<BHBBH", 2, 0, 0x20, 1, 1000)}
        self.configured = False

    def wanted(self):
        return bytes([0x11, 0, 0, 0x0B]) + struct.pack("<H", 10000)

    def set_feature(self, data):
        if data[0] == 2:
            self.configured = data[3] & 0x0C == 0x0C
            return 0
        return super().set_feature(data)

    def report(self, now):
        head = struct.pack(
            "<BHBHhI", 11, 0, self.samples, 77, 3000, self.ticks(now, 1000, 32)
        )
        data = head + self.block(now, self.samples, 2) + self.field(now)
        return data.ljust(64, b"\0") if self.configured else bytes(64)


class RiftCV1(RiftDK2):
    model, product, interface = 0x0031, "Rift CV1", 0

    def reset(self, now):
        super().reset(now)
        self.enabled = False

    def set_feature(self, data):
        if data[0] == 0x1D:
            self.enabled = data == bytes([0x1D, 0, 0, 7])
            return 0
        return super().set_feature(data) if self.enabled else 32


class PlayStationVR(Family):
    """Two nodes: the sensor, and the switches that bring it to life."""

    vendor, model, rate, product = 0x054C, 0x09AF, 1000, "PS VR"
    interface, nodes = 4, 2
    descriptor = item(0xFF00, 0x01, [(0x81, 0, 64)], numbered=False)

    def reset(self, now):
        super().reset(now)
        self.started, self.power = False, False

    def output(self, data, node):
        if node == 0:
            return False
        if data == bytes.fromhex("1700aa0401000000"):
            self.power = True
        self.started = self.started or (self.power and data == bytes.fromhex("2300aa0401000000"))
        return True

    def sample(self, now):
        rate, force = self.motion.rate(now * 1e-9), self.motion.force(now * 1e-9)

        def order(v, scale):
            x, y, z = right_up_back(v)
            return shorts((y / scale, x / scale, -z / scale))

        return struct.pack("<I", self.ticks(now, 1000, 24)) + order(rate, 0.00105) + order(
            force, G / 16384
        )

    def report(self, now):
        data = bytearray(64)
        data[16:32] = self.sample(now - 500_000)
        data[32:48] = self.sample(now)
        return bytes(data)


class HackerDevKit(Family):
    vendor, model, rate, product = 0x1532, 0x0B00, 400, "OSVR HDK"
    descriptor = item(0xFF00, 0x01, [(0x81, 0, 32)], numbered=False)

    def report(self, now):
        t = now * 1e-9
        half = math.sqrt(0.5)
        # The head is the sensor turned 90 degrees nose up.
        nose_down = (half, 0.0, half, 0.0)
        sensor = multiply(self.motion.quaternion(t), nose_down)
        turn = right_front_up(sensor[1:])
        rate = (0,) + tuple(self.motion.rate(t))
        rate = multiply(multiply(conjugate(nose_down), rate), nose_down)[1:]
        data = bytes([3, now >> 20 & 255]) + shorts([v * 16384 for v in turn + (sensor[0],)])
        return (data + shorts([v * 512 for v in right_front_up(rate)])).ljust(32, b"\0")


class Angles(Family):
    """A joystick: ten bits an axis, 0.35 degrees a step, pitch upside down."""

    vendor, model, rate, product = 0x1209, 0x0001, 100, "Head Joystick"
    descriptor = bytes.fromhex(
        "05010904A1018503"
        "0509190129041500250175019504810275049501" "8101"
        "0501093009310932" "1601FE26FF01" "750A9503" "8102" "75029501" "8101" "C0"
    )

    def report(self, now):
        yaw, pitch, roll = self.motion.angles(now * 1e-9)
        bits = 0
        for index, v in enumerate((roll, -pitch, yaw)):
            bits |= (round(v / 0.35) & 0x3FF) << (10 * index)
        return bytes([3, 0]) + bits.to_bytes(4, "little")


class Bytes(Family):
    """A raw sensor that a profile describes by offsets; silent until it is started twice."""

    vendor, model, rate, product = 0x1209, 0x0002, 200, "Raw Sensor"
    descriptor = item(0xFF00, 0x01, [(0x81, 7, 23), (0xB1, 9, 1), (0x91, 8, 1)])

    def reset(self, now):
        super().reset(now)
        self.started, self.armed = False, False

    def set_feature(self, data):
        self.armed = data == b"\x09\x01"
        return 0

    def output(self, data, node):
        self.started = self.armed and data == b"\x08\x02"
        return True

    def report(self, now):
        t = now * 1e-9
        data = struct.pack("<BI", 7, self.ticks(now, 1e5, 32))
        data += shorts([v * 1000 for v in right_front_up(self.motion.rate(t))])
        data += struct.pack("<3f", *right_front_up(self.motion.force(t)))
        return data + bytes([1 if self.button else 0])


FAMILIES = {
    "dualsense": DualSense, "dualsense-clone": CloneDualSense, "dualshock4": DualShock4,
    "xreal": XREAL, "switch-pro": SwitchPro, "joycon-left": JoyConLeft,
    "joycon-right": JoyConRight, "switch-bound": BoundSwitchPro, "rift-dk1": RiftDK1,
    "rift-dk2": RiftDK2, "rift-cv1": RiftCV1, "psvr": PlayStationVR, "hdk": HackerDevKit,
    "angles": Angles, "bytes": Bytes,
}
