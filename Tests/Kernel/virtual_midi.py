#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A virtual MIDI head tracker at the device's end of a raw MIDI cable.

usage: virtual_midi.py supperware|mrheadtracker DEVICE FOLDER

DEVICE is a node such as /dev/snd/midiC1D0. FOLDER is that of virtual_head.py. The Supperware sends
after its start message, at the rate that it asks for, until its stop message; while FOLDER has a
file `mute`, it sends nothing. Every message is printed.
"""
import os
import sys
import time

from virtual_head import Head

HEADER = bytes.fromhex('F0002142')


def supperware(q):
    w, x, y, z = q
    data = b''
    for value in (w, -y, x, z):
        bits = round(value * 2048) & 0x3FFF
        data += bytes([bits >> 7, bits & 127])
    return HEADER + b'\x40\x01' + data + b'\xF7'


class ControlChanges:
    """Pairs for the numbers that have changed. The firmware's default is the inverse rotation."""
    last = [None] * 4

    def message(self, q):
        w, x, y, z = q
        numbers = [round((v + 1) * 8191) for v in (w, -x, -y, -z)]
        changed = [i for i in range(4) if numbers[i] != self.last[i]]
        self.last = numbers
        return b''.join(
            bytes([0xB0, 48 + i, numbers[i] & 127, 0xB0, 16 + i, numbers[i] >> 7]) for i in changed)


def write(node, data):
    try:
        os.write(node, data)
    except BlockingIOError:
        pass  # Nobody reads.


def main():
    kind, device, folder = sys.argv[1:4]
    node = os.open(device, os.O_RDWR | os.O_NONBLOCK)
    print('ready', flush=True)
    changes, received, head = ControlChanges(), b'', Head(folder)
    hertz = 50 if kind == 'mrheadtracker' else 0
    due = time.monotonic()
    while True:
        try:
            received += os.read(node, 256)
        except BlockingIOError:
            pass
        while b'\xF7' in received:
            message, received = received.split(b'\xF7', 1)
            message += b'\xF7'
            print(f'host: {message.hex()}', flush=True)
            if kind == 'supperware' and message[:6] == HEADER + b'\0\0':
                hertz = {0x28: 100, 0x08: 50}.get(message[6], 0)
        if hertz and not os.path.exists(f'{folder}/mute'):
            q = head.quaternion()
            data = supperware(q) if kind == 'supperware' else changes.message(q)
            if data:
                write(node, data)
        due = max(due + 1 / (hertz or 50), time.monotonic() - 0.1)
        time.sleep(max(0, due - time.monotonic()))


if __name__ == '__main__':
    main()
