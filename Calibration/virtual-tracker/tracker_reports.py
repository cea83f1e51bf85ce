# SPDX-License-Identifier: Apache-2.0
"""Rotations, and the reports and report descriptors of an Android head tracker."""
import collections
import math

# Rotations: quaternions (w, x, y, z), x front, y left, z up.


def multiply(a, b):
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


def from_angles(yaw, pitch, roll):
    y, p, r = (math.radians(v) / 2 for v in (yaw, pitch, roll))
    turn = (math.cos(y), 0, 0, math.sin(y))
    nod = (math.cos(p), 0, -math.sin(p), 0)
    tilt = (math.cos(r), math.sin(r), 0, 0)
    return multiply(multiply(turn, nod), tilt)


def rotation_vector(q):
    if q[0] < 0:
        q = tuple(-v for v in q)
    sine = math.sqrt(q[1] ** 2 + q[2] ** 2 + q[3] ** 2)
    if sine < 1e-12:
        return (0.0, 0.0, 0.0)
    angle = 2 * math.atan2(sine, q[0])
    return tuple(v * angle / sine for v in q[1:])


def right_front_up(v):
    return (-v[1], v[0], v[2])


# Report descriptors.


def item(prefix, value, size=None):
    """Returns a short item. `prefix` contains tag and type; the default size is the smallest."""
    if size is None:
        size = 1 if -128 <= value < 128 else 2 if -32768 <= value < 32768 else 4
    code = {1: 1, 2: 2, 4: 3}[size]
    return bytes([prefix | code]) + (value & (2 ** (8 * size) - 1)).to_bytes(size, "little")


PAGE, REPORT_ID, SIZE, COUNT = 0x04, 0x84, 0x74, 0x94
LMIN, LMAX, PMIN, PMAX, EXPONENT = 0x14, 0x24, 0x34, 0x44, 0x54
INPUT, FEATURE, COLLECTION, USAGE = 0x80, 0xB0, 0xA0, 0x08
END = b"\xc0"
REPORTING, POWER, INTERVAL, TRANSPORT = 0x0316, 0x0319, 0x030E, 0xF410
NO_EVENTS, ALL_EVENTS, POWER_OFF, POWER_FULL = 0x0840, 0x0841, 0x0855, 0x0851
ACL, ISO = 0xF800, 0xF801
DESCRIPTION, IDENTITY, ROTATION, VELOCITY, COUNTER = 0x0308, 0x0302, 0x0544, 0x0545, 0x0546

Field = collections.namedtuple("Field", "usage bits count low high physical exponent choices")


def number(usage, bits, count, low, high, physical=(0, 0), exponent=0):
    return Field(usage, bits, count, low, high, physical, exponent, None)


def selector(usage, bits, choices):
    return Field(usage, bits, 1, 0, len(choices) - 1, (0, 0), 0, choices)


PI8 = 314159265


def layout(variant, version):
    """Returns the description text, and the fields of each (kind, report ID) in bit order. A field
    without a usage is padding."""
    text = "#AndroidHeadTracker#1.0" if version == 1 else "#AndroidHeadTracker#2.0#3"
    letters = number(DESCRIPTION, 8, len(text), 0, 255)
    who = number(IDENTITY, 8, 16, 0, 255)
    if variant == "example":
        control = [selector(REPORTING, 1, [NO_EVENTS, ALL_EVENTS])]
        control += [selector(POWER, 1, [POWER_OFF, POWER_FULL])]
        control += [number(INTERVAL, 6, 1, 0, 63, (10, 100), -3)]
        if version == 2:
            control += [selector(TRANSPORT, 1, [ACL, ISO]), number(None, 7, 1, 0, 0)]
        data = [
            number(ROTATION, 16, 3, -32767, 32767, (-PI8, PI8), -8),
            number(VELOCITY, 16, 3, -32767, 32767, (-32, 32), 0),
            number(COUNTER, 8, 1, 0, 255),
        ]
        return text, {(FEATURE, 2): [letters, who], (FEATURE, 1): control, (INPUT, 1): data}
    control = [number(None, 5, 1, 0, 0), selector(POWER, 3, [POWER_FULL, POWER_OFF])]
    control += [number(INTERVAL, 16, 1, 1, 1000, (0, 0), -3)]
    report = [selector(REPORTING, 2, [0x0842, ALL_EVENTS, NO_EVENTS]), number(None, 6, 1, 0, 0)]
    if version == 2:
        report += [selector(TRANSPORT, 8, [ISO, ACL])]
    data = [
        number(COUNTER, 8, 1, 0, 255),
        number(None, 3, 1, 0, 0),
        number(VELOCITY, 15, 3, -16383, 16383, (-2000, 2000), -2),
        number(ROTATION, 24, 3, -8388607, 8388607, (-PI8, PI8), -8),
    ]
    return text, {
        (FEATURE, 14): [letters],
        (FEATURE, 5): control,
        (FEATURE, 6): report,
        (INPUT, 3): data,
    }


def descriptor(reports):
    out = item(PAGE, 0x20) + item(USAGE, 0xE1) + item(COLLECTION, 1)
    for (kind, number_), fields in reports.items():
        out += item(REPORT_ID, number_)
        for f in fields:
            # Published descriptors write 255 in one byte; readers must interpret it as unsigned.
            out += item(LMIN, f.low) + item(LMAX, f.high, 1 if f.high == 255 else None)
            out += item(PMIN, f.physical[0]) + item(PMAX, f.physical[1])
            out += item(EXPONENT, f.exponent & 15, 1) + item(SIZE, f.bits) + item(COUNT, f.count)
            if f.usage is None:
                out += item(kind, 1)
            elif f.choices:
                out += item(USAGE, f.usage, 2) + item(COLLECTION, 2)
                for choice in f.choices:
                    out += item(USAGE, choice, 2)
                out += item(kind, 0) + END
            else:
                constant = f.usage in (DESCRIPTION, IDENTITY)
                out += item(USAGE, f.usage, 2) + item(kind, 3 if constant else 2)
    return out + END


def pack(number_, fields, values):
    bits, at = 0, 0
    for f in fields:
        chosen = values.get(f.usage, [0] * f.count)
        for value in chosen:
            bits |= (value & ((1 << f.bits) - 1)) << at
            at += f.bits
    return bytes([number_]) + bits.to_bytes((at + 7) // 8, "little")


def unpack(fields, report):
    bits, at, values = int.from_bytes(report[1:], "little"), 0, {}
    for f in fields:
        values[f.usage] = []
        for _ in range(f.count):
            values[f.usage].append((bits >> at) & ((1 << f.bits) - 1))
            at += f.bits
    return values


def quantise(f, values):
    low, high = f.physical
    scale = (f.high - f.low) / ((high - low) * 10.0**f.exponent)
    return [max(f.low, min(f.high, round(v * scale))) for v in values]
