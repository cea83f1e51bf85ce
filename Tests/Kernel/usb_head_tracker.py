#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: usb_head_tracker.py FUNCTIONFS REPORTS

A head tracker on USB whose report descriptor has a physical outer collection: a FunctionFS function
in a mounted folder. REPORTS is the folder of tracker_reports.py. Prints "ready" when the gadget can
be bound, and each change of its features.
"""
import os
import struct
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[2])
from tracker_reports import FEATURE, POWER, POWER_FULL, descriptor, layout, pack, unpack  # noqa: E402

GET_DESCRIPTOR, GET_REPORT, SET_REPORT = (0x81, 6), (0xA1, 1), (0x21, 9)
ENABLE, DISABLE, SETUP = 2, 3, 4

text, reports = layout('example', 1)
described = bytearray(descriptor(reports))
described[described.index(b'\xa1\x01') + 1] = 0
features = {number: pack(number, fields, {0x0308: list(text.encode())})
            for (kind, number), fields in reports.items() if kind == FEATURE}

folder = sys.argv[1]
control = os.open(folder + '/ep0', os.O_RDWR)
interface = struct.pack('<9B', 9, 4, 0, 0, 1, 3, 0, 0, 0)
interface += struct.pack('<BBHBBBH', 9, 0x21, 0x0111, 0, 1, 0x22, len(described))
interface += struct.pack('<BBBBHB', 7, 5, 0x81, 3, 64, 4)
body = struct.pack('<II', 3, 3) + interface + interface
os.write(control, struct.pack('<III', 3, 12 + len(body), 3) + body)
os.write(control, struct.pack('<IIII', 2, 16, 0, 0))
endpoint = os.open(folder + '/ep1', os.O_RDWR)
print('ready', flush=True)
state = {'enabled': False}


def power():
    fields = reports[(FEATURE, 1)]
    field = next(f for f in fields if f.usage == POWER)
    return field.choices[unpack(fields, features[1])[POWER][0]]


def send():
    while True:
        time.sleep(0.02)
        if state['enabled'] and power() == POWER_FULL:
            try:
                os.write(endpoint, bytes([1]) + bytes(13))
            except OSError:
                pass


def answer(kind, request, value, length):
    number = value & 0xFF
    if (kind, request) == GET_DESCRIPTOR and value >> 8 == 0x22:
        os.write(control, bytes(described[:length]))
    elif (kind, request) == GET_REPORT and number in features:
        os.write(control, features[number][:length])
    elif (kind, request) == SET_REPORT and number in features:
        features[number] = os.read(control, length)
        print('power', hex(power()), flush=True)
    elif kind & 0x80:
        # An operation in the wrong direction stalls the request.
        os.read(control, 0)
    elif (kind, request) == (0x21, 0x0A):
        os.read(control, 0)
    else:
        os.write(control, b'')


threading.Thread(target=send, daemon=True).start()
while True:
    event = os.read(control, 12)
    kind, request, value, _, length, type_ = struct.unpack('<BBHHHB3x', event)
    if type_ in (ENABLE, DISABLE):
        state['enabled'] = type_ == ENABLE
    elif type_ == SETUP:
        try:
            answer(kind, request, value, length)
        except OSError as error:
            print('request %02x %02x: %s' % (kind, request, error), flush=True)
