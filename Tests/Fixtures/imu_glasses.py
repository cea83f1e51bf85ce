# SPDX-License-Identifier: Apache-2.0
"""Virtual AR glasses, in the form of imu_families.py."""
import binascii
import math
import struct

from imu_families import (  # noqa: F401
    DEGREE, G, Family, conjugate, item, multiply, right_up_back)

RAW = item(0xFF00, 0x01, [(0x81, 0, 64), (0x91, 0, 64)], numbered=False)


class RayNeo(Family):
    """Silent until it was asked for its board, its calibration and the stream."""

    vendor, model, rate, interface = 0x1BBB, 0xAF50, 500, 0
    product, descriptor, board = "RayNeo Air 3s Pro", RAW, 0x37
    # Column by column; the sensor's values are the inverse of it times the truth.
    matrix = ((1.02, 0.01, 0.0), (-0.01, 0.98, 0.0), (0.0, 0.0, 1.01))

    def reset(self, now):
        super().reset(now)
        self.started = False

    def output(self, data, node):
        if len(data) != 64 or data[0] != 0x66:
            return False
        self.started = data[1] == 1 or (self.started and data[1] != 2)
        answer = bytearray(64)
        answer[0:2], answer[8] = b"\x99\xC8", data[1]
        if data[1] == 0:
            answer[21], answer[51] = self.board, 1
        elif data[1] == 0x3C:
            answer[9:57] = struct.pack("<12f", *sum(self.matrix, ()), 1.0, 2.0, 3.0)
        self.replies.append(bytes(answer))
        return True

    def axes(self, v):
        """House axes to the sensor's: right-up-back is (x, -z, y)."""
        x, y, z = right_up_back(v)
        return (x, z, -y)

    def distorted(self, v):
        (a, b, _), (c, d, _), (_, _, e) = self.matrix
        x, y, z = self.axes(v)
        size = a * d - c * b
        return ((d * x - c * y) / size, (a * y - b * x) / size, z / e)

    def report(self, now):
        t = now * 1e-9
        data = bytearray(64)
        data[0:2] = b"\x99\x65"
        data[4:16] = struct.pack("<3f", *self.distorted(self.motion.force(t)))
        data[16:28] = struct.pack(
            "<3f", *(v / DEGREE for v in self.distorted(self.motion.rate(t))))
        data[40:44] = struct.pack("<I", self.ticks(now, 1e5, 32))
        return bytes(data)


class RayNeo4(RayNeo):
    """Its axes are right, up, back."""

    product, board = "RayNeo Air 4", 0x39

    def axes(self, v):
        return right_up_back(v)


class OldRayNeo(RayNeo):
    product, board = "RayNeo Air 2", 0x22


class VITURESensor(Family):
    """Two nodes; the first sends."""

    vendor, model, rate, interface, nodes = 0x35CA, 0x1201, 120, 0, 2
    product, descriptor = "VITURE Beast", RAW

    def reset(self, now):
        super().reset(now)
        self.started = False

    @staticmethod
    def packet(message, body):
        head = struct.pack("<4H", 0x10, message, len(body), sum(body) & 0xFFFF)
        return (head + body).ljust(64, b"\0")

    def output(self, data, node):
        if node == 0 and data[:10] == bytes.fromhex("10000103020004000202"):
            self.started = True
        elif node == 0 and data[:10] == bytes.fromhex("10000103020000000000"):
            self.started = False
        else:
            return node == 1
        self.replies.append(self.packet(0x4301, b"\0"))
        return True

    def report(self, now):
        t = now * 1e-9
        age, base = 700, now // 1_000_000 - 5
        counter = now // 1000 - base * 1000 + age
        body = bytearray(49)
        body[0:8] = struct.pack("<2I", counter, base % (1 << 32))

        def axes(v):
            x, y, z = right_up_back(v)
            return (x, -y, -z)

        body[10:22] = struct.pack("<3f", *axes(self.motion.rate(t)))
        body[22:34] = struct.pack("<3f", *(v / G for v in axes(self.motion.force(t))))
        body[46:49] = struct.pack("<I", age)[:3]
        return self.packet(0x7309, bytes(body))


class VITUREPose(Family):
    """Two nodes: data, and commands. The sensor is tilted 6 degrees nose up in the glasses."""

    vendor, model, rate, interface, nodes = 0x35CA, 0x1011, 60, 0, 2
    product, descriptor = "VITURE One", RAW
    has_quaternion = True

    def reset(self, now):
        super().reset(now)
        self.started = False

    def output(self, data, node):
        if node != 1 or len(data) != 64 or data[:2] != b"\xFF\xFE":
            return False
        length = struct.unpack_from("<H", data, 4)[0]
        if struct.unpack_from("<H", data, 2)[0] != binascii.crc_hqx(data[4 : 6 + length], 0):
            return False
        if data[14:16] == b"\x15\0":
            self.started = data[18] == 1
        return True

    def report(self, now):
        half = 3 * DEGREE
        nose_up = (math.cos(half), 0.0, -math.sin(half), 0.0)
        w, x, y, z = multiply(self.motion.quaternion(now * 1e-9), nose_up)
        # R = Rz(yaw) Rx(roll) Ry(pitch)
        roll = math.asin(2 * (y * z + w * x))
        yaw = math.atan2(2 * (w * z - x * y), 1 - 2 * (x * x + z * z))
        pitch = math.atan2(2 * (w * y - x * z), 1 - 2 * (x * x + y * y))
        values = struct.pack(">3f", *(v / DEGREE for v in (roll, pitch, yaw)))
        if self.has_quaternion:
            values += bytes(8) + struct.pack(">4f", w, x, y, z)
        body = struct.pack("<H", 12 + len(values)) + bytes(12) + values
        head = b"\xFF\xFC" + struct.pack("<H", binascii.crc_hqx(body, 0))
        return (head + body).ljust(64, b"\0")


class OldVITUREPose(VITUREPose):
    """Firmware that reports only angles."""

    has_quaternion = False


class Rokid(Family):
    vendor, model, rate, interface = 0x04D2, 0x162F, 500, 2
    product, descriptor = "Rokid Max", item(0xFF00, 0x01, [(0x81, 0, 64)], numbered=False)

    def report(self, now):
        t = now * 1e-9
        data = bytearray(64)
        data[0:9] = struct.pack("<BQ", 0x11, now + 10**12)
        data[9:21] = struct.pack("<3f", *right_up_back(self.motion.force(t)))
        data[21:33] = struct.pack("<3f", *right_up_back(self.motion.rate(t)))
        return bytes(data)


class RokidMax2(Rokid):
    model, product = 0x2002, "Rokid Max 2"

    def report(self, now):
        t = now * 1e-9
        data = bytearray(64)
        data[0:8] = struct.pack("<Q", 0x11 | now // 1000 << 8)
        data[12:24] = struct.pack("<3f", *(v / G for v in right_up_back(self.motion.force(t))))
        data[24:36] = struct.pack(
            "<3f", *(v / DEGREE for v in right_up_back(self.motion.rate(t))))
        return bytes(data)


GLASSES = {
    "rayneo": RayNeo, "rayneo-4": RayNeo4, "rayneo-old": OldRayNeo,
    "viture-sensor": VITURESensor, "viture-pose": VITUREPose, "viture-angles": OldVITUREPose,
    "rokid": Rokid, "rokid-max2": RokidMax2,
}
