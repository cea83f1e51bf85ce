#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Virtual AirPods or Galaxy Buds on an emulated radio, for a real kernel and a real bluetoothd.

MODEL=airpods   L2CAP PSM 0x1001, which refuses an unencrypted link: Apple's accessory protocol
MODEL=galaxy    RFCOMM channel 5, in the SDP records under Samsung's service

The head turns 40 degrees to each side in 8 s. The radio is that of the kernel tools' earphone.py,
whose options apply (--name, --rate, --die SECOND, --back SECOND). Every packet of the host is
printed.
"""
import asyncio
import math
import os
import struct
import sys

sys.path.insert(0, os.environ['KERNEL_TOOLS'])
import earphone  # noqa: E402
from bumble.core import UUID  # noqa: E402
from bumble.device import Device  # noqa: E402
from bumble.sdp import DataElement, ServiceAttribute  # noqa: E402

MODEL = os.environ.get('MODEL', 'airpods')
APPLE = '74ec2172-0bad-4d01-8f77-997b2be0722a'
SAMSUNG = '2e73a4ad-332d-41fc-90e2-16bef06523f2'
# Sensor to headset, as captured from AirPods Pro 3: x, y, z, w.
MOUNTING = (0.6313, -0.1628, -0.6467, 0.3960)


def multiply(a, b):
    (ax, ay, az, aw), (bx, by, bz, bw) = a, b
    return (aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz)


def conjugate(q):
    return (-q[0], -q[1], -q[2], q[3])


def rotate(q, v):
    return multiply(multiply(q, (*v, 0)), conjugate(q))[:3]


def varint(number):
    out = b''
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def i16(values, scale):
    return b''.join(struct.pack('<h', max(-32768, min(32767, round(v * scale)))) for v in values)


def yaw(seconds):
    return math.radians(40) * math.sin(2 * math.pi * seconds / 8)


class AirPods(earphone.Protocol):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.sequence, self.awake, self.described, self.interval = 100, False, False, 0

    def received(self, data):
        print(f'host: {data.hex()}', flush=True)
        if data.startswith(bytes.fromhex('00000400')):
            self.awake = True
        if not self.awake:
            return
        if data[4:6] == b'\x0f\x00':
            self.send(bytes.fromhex('040004000400 03 02015a0201 0401550201 0801320201'))
            self.send(bytes.fromhex('040004000600 0001'))
            texts = [b'Virtual AirPods', b'A3063', b'Apple Inc.', b'SERIAL', b'8A356', b'8A356']
            self.send(bytes.fromhex('040004001d00 02d5000400') + b'\0'.join(texts) + b'\0')
            if not self.described:
                self.described = True
                self.send(self.description())
        if data[4:6] == b'\x17\x00' and len(data) > 24:
            self.interval = struct.unpack('<I', data[-4:])[0]
            self.closed()
            if self.interval:
                self.send(self.frame(bytes.fromhex('4a020810')))
                self.task = asyncio.create_task(self.stream())

    def frame(self, fields):
        body = b'\x08' + varint(self.sequence) + b'\x10\x03' + fields
        self.sequence += 1
        return bytes.fromhex('04000400170000001000') + struct.pack('<H', len(body)) + body

    def description(self):
        blob = bytes.fromhex('d3000000020000') + b'AccessoryService' + bytes.fromhex('0a000009')
        blob += b'devmotion6' + bytes.fromhex('1100000009') + b'H2HTransformation'
        blob += bytes.fromhex('0100000800000a') + i16(MOUNTING, 32767)
        blob = blob.ljust(490, b'\0')
        message = b'\x08\x10\x12' + varint(len(blob)) + blob
        body = b'\x08\x01\x2a' + varint(len(message)) + message
        return bytes.fromhex('04000400170000001000') + struct.pack('<H', len(body)) + body

    async def stream(self):
        loop = asyncio.get_running_loop()
        start, n = loop.time(), 0
        half = (math.sqrt(0.5), -math.sqrt(0.5), 0, 0)
        to_head = multiply(half, MOUNTING)
        while True:
            seconds = n * self.interval * 1e-6
            angle = yaw(seconds)
            rate = math.radians(40) * 2 * math.pi / 8 * math.cos(2 * math.pi * seconds / 8)
            q = multiply((0, 0, math.sin(angle / 2), math.cos(angle / 2)), to_head)
            if q[3] < 0:
                q = tuple(-x for x in q)
            micros = 5_000_000 + round(seconds * 1e6)
            report = b'\x01' + struct.pack('<QBHQ', micros * 1000, 3, 0x8300, micros)
            report += i16(q[:3], 32767) + i16(rotate(conjugate(to_head), (0, 0, rate)), 512)
            report += bytes(12) + i16(rotate(conjugate(q), (0, 0, -1)), 1024)
            report += bytes(4) + struct.pack('<I', round(seconds * 199.2))
            self.send(self.frame(b'\x3a' + bytes([len(report) + 4]) + b'\x08\x10\x1a'
                                 + bytes([len(report)]) + report))
            n += 1
            await asyncio.sleep(max(0, start + n * self.interval * 1e-6 - loop.time()))


def crc(data):
    value = 0
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1 ^ 0x1021 if value & 0x8000 else value << 1) & 0xFFFF
    return value


class GalaxyBuds(earphone.Protocol):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.buffer, self.alive = b'', 0

    def received(self, data):
        self.buffer += data
        while len(self.buffer) >= 7 and self.buffer[0] == 0xFD:
            size = (self.buffer[1] | self.buffer[2] << 8) & 0x3FF
            if len(self.buffer) < size + 4:
                return
            frame, self.buffer = self.buffer[:size + 4], self.buffer[size + 4:]
            print(f'host: {frame.hex()}', flush=True)
            self.take(frame[3], frame[4:-3])

    def take(self, kind, payload):
        if kind != 0xC3:
            return
        if payload[0] == 0:
            self.say(0xC3, b'\x02')
            self.alive = asyncio.get_running_loop().time()
            self.task = self.task or asyncio.create_task(self.stream())
        elif payload[0] == 1:
            self.closed()
        elif payload[0] == 4:
            self.alive = asyncio.get_running_loop().time()

    def say(self, kind, payload):
        content = bytes([kind]) + payload
        self.send(b'\xfd' + struct.pack('<H', len(content) + 2) + content
                  + struct.pack('<H', crc(content)) + b'\xdd')

    async def stream(self):
        loop = asyncio.get_running_loop()
        start, n = loop.time(), 0
        while loop.time() - self.alive < 5:
            angle = yaw(loop.time() - start)
            turn = (0, 0, math.sin(angle / 2), math.cos(angle / 2))
            self.say(0xC2, b'\x20' + i16(turn, 10000) + b'\0')
            n += 1
            await asyncio.sleep(max(0, start + n / self.options.rate - loop.time()))
        print('earphone: no sign of life, stopped', flush=True)
        self.task = None


records = earphone.make_service_sdp_records


def described(handle, channel, _):
    """Returns the service records in place of the plain serial port's."""
    if MODEL == 'galaxy':
        return records(handle, channel, UUID(SAMSUNG))
    uuid, sequence = DataElement.uuid, DataElement.sequence
    return [
        ServiceAttribute(0, DataElement.unsigned_integer_32(handle)),
        ServiceAttribute(1, sequence([uuid(UUID(APPLE))])),
        ServiceAttribute(4, sequence([sequence(
            [uuid(UUID.from_16_bits(0x0100)), DataElement.unsigned_integer_16(earphone.PSM)])])),
        ServiceAttribute(5, sequence([uuid(UUID.from_16_bits(0x1002))]))]


def guarded(create):
    """Makes an L2CAP server that closes the channel of an unencrypted link."""
    def server(self, spec, handler):
        def check(channel):
            if spec.psm == earphone.PSM and not channel.connection.encryption:
                print('earphone: refused an unencrypted link', flush=True)
                asyncio.get_running_loop().create_task(channel.disconnect())
                return
            handler(channel)
        return create(self, spec, check)
    return server


if __name__ == '__main__':
    earphone.make_service_sdp_records = described
    Device.create_l2cap_server = guarded(Device.create_l2cap_server)
    asyncio.run(earphone.main(AirPods if MODEL == 'airpods' else GalaxyBuds))
