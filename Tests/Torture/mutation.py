# SPDX-License-Identifier: Apache-2.0
"""Random changes to bytes, derived from a `random.Random`."""
import re
import struct

INTERESTING = [0, 1, 2, 3, 7, 16, 64, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 0x7FFFFFFF, 0x80000000,
               0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF]
FLOATS = [0.0, -0.0, 1e-45, 1e-39, 1e38, -1e38, 1e300, float('inf'), float('-inf'), float('nan')]
NUMBERS = [b'0', b'-0', b'-1', b'1', b'1e-320', b'1e308', b'1e999', b'-1e999', b'nan', b'inf', b'2147483648',
           b'4294967296', b'9223372036854775807', b'9223372036854775808', b'-9223372036854775809', b'0.1',
           b'1' + b'0' * 400, b'0x10', b'1e5', b'']
NUMBER = re.compile(rb'-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?')


def flip(rng, data):
    for _ in range(1 << rng.randrange(6)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def noise(rng, data):
    start = rng.randrange(len(data))
    for at in range(start, min(len(data), start + (1 << rng.randrange(7)))):
        data[at] = rng.randrange(256)


def integer(rng, data):
    size = rng.choice((1, 2, 4, 8))
    value = (rng.choice(INTERESTING) + rng.randrange(-2, 3)) % (1 << 8 * size)
    at = rng.randrange(len(data))
    data[at:at + size] = value.to_bytes(size, rng.choice(('little', 'big')))[:len(data) - at]


def real(rng, data):
    form = rng.choice(('<f', '<d', '>f', '>d'))
    size = struct.calcsize(form)
    at = rng.randrange(len(data)) // size * size
    value = rng.choice(FLOATS)
    try:
        data[at:at + size] = struct.pack(form, value)[:len(data) - at]
    except OverflowError:
        data[at:at + size] = struct.pack(form, float('inf'))[:len(data) - at]


def delete(rng, data):
    at = rng.randrange(len(data))
    del data[at:at + 1 + rng.randrange(1 << rng.randrange(12))]


def duplicate(rng, data):
    at = rng.randrange(len(data))
    piece = data[at:at + 1 + rng.randrange(1 << rng.randrange(10))]
    to = rng.randrange(len(data))
    data[to:to] = piece * rng.choice((1, 1, 1, 2, 20))


def cut(rng, data):
    del data[rng.randrange(len(data)):]


def number(rng, data):
    """Replaces one written number."""
    start = rng.randrange(len(data))
    found = NUMBER.search(data, start) or NUMBER.search(data)
    if found:
        data[found.start():found.end()] = rng.choice(NUMBERS)


def token(rng, data, tokens):
    at = rng.randrange(len(data) + 1)
    piece = rng.choice(tokens)
    data[at:at + rng.choice((0, 0, len(piece)))] = piece


def line(rng, data):
    """Removes, repeats or moves one line."""
    lines = bytes(data).split(b'\n')
    at = rng.randrange(len(lines))
    chosen = lines.pop(at) if rng.random() < 0.5 else lines[at]
    if rng.random() < 0.7:
        lines.insert(rng.randrange(len(lines) + 1), chosen)
    data[:] = b'\n'.join(lines)


BINARY = (flip, flip, noise, integer, integer, real, real, delete, duplicate, cut)
TEXT = (number, number, number, line, line, flip, noise, delete, duplicate, cut)


def mutated(rng, seeds, tokens=(), text=False):
    """Returns one of the seeds after one to six changes; with a small chance the seed itself."""
    data = bytearray(rng.choice(seeds))
    if rng.random() < 0.01:
        return bytes(data)
    changes = TEXT if text else BINARY
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4, 6))):
        if not data:
            break
        if tokens and rng.random() < 0.3:
            token(rng, data, tokens)
        elif rng.random() < 0.03:
            other = rng.choice(seeds)
            data[rng.randrange(len(data)):] = other[rng.randrange(len(other) or 1):]
        else:
            rng.choice(changes)(rng, data)
    return bytes(data[:1 << 22])
