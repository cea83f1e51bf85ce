# SPDX-License-Identifier: Apache-2.0
"""Checks of what a program has printed and written. Each returns None or the reason for a failure."""
import json
import os
import re
import struct
import subprocess

import numpy

CONTROL = re.compile(r'[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]')
NOT_FINITE = re.compile(r'(?<![\w./])-?(nan|inf|infinity)(?![\w./])', re.I)


def messages(data, code):
    """Standard error: notes, and exactly one error line if the program failed."""
    try:
        text = data.decode('utf-8')
    except UnicodeDecodeError:
        return 'standard error is not UTF-8'
    lines = text.split('\n')
    if lines.pop() != '':
        return 'standard error does not end with a line feed'
    for each in lines:
        if CONTROL.search(each):
            return 'control character in %r' % each[:200]
        if len(each) > 4000:
            return 'a line of %d characters on standard error' % len(each)
        if not each.startswith('stillstage: '):
            return 'line without "stillstage: ": %r' % each[:200]
    errors = [each for each in lines if not re.match(r'stillstage: (note|warning|status): ', each)]
    if code == 0 and errors:
        return 'success with an error line: %r' % errors[0][:200]
    if code in (1, 2) and len(errors) != 1:
        return 'exit code %d with %d error lines: %r' % (code, len(errors), errors[:3])
    return None


def finite_wav(path):
    """The samples of a 32-bit float WAV file."""
    with open(path, 'rb') as f:
        data = f.read()
    if data[:4] not in (b'RIFF', b'RF64') or data[8:12] != b'WAVE':
        return 'the output is not a WAV file'
    at = 12
    while at + 8 <= len(data):
        name, size = data[at:at + 4], struct.unpack('<I', data[at + 4:at + 8])[0]
        if name == b'data':
            samples = numpy.frombuffer(data, '<f4', min(size, len(data) - at - 8) // 4, at + 8)
            if at + 8 + size > len(data):
                return 'the output WAV file is shorter than its header says'
            return None if numpy.isfinite(samples).all() else 'a sample of the output is not finite'
        at += 8 + size + size % 2
    return 'the output WAV file has no data'


def complete_sound(path):
    """A media file that ffmpeg decodes without an error."""
    run = subprocess.run(['ffmpeg', '-v', 'error', '-i', path, '-f', 'null', '-'], stdin=subprocess.DEVNULL,
                         stderr=subprocess.PIPE)
    return 'ffmpeg reports %r' % run.stderr[:200] if run.returncode or run.stderr else None


def finite_text(path):
    with open(path, 'rb') as f:
        found = NOT_FINITE.search(f.read().decode('utf-8', 'replace'))
    return 'the output contains %r' % found.group() if found else None


def finite_json(path):
    def refuse(word):
        raise ValueError('the constant ' + word)
    try:
        with open(path, 'rb') as f:
            json.loads(f.read().decode('utf-8'), parse_constant=refuse)
    except ValueError as reason:
        return 'standard output is not JSON: %s' % reason
    return None


def sofa_answer(path):
    """The binary answer of stillstage-sofa, or its lines of text."""
    with open(path, 'rb') as f:
        data = f.read()
    if not data.startswith(b'STILSOFA'):
        first = data.split(b'\n', 1)[0]
        return None if re.match(rb'(cannot-open|not-sofa|refused): ', first) else 'no answer: %r' % first[:100]
    text, m, n, d = struct.unpack('<4I', data[12:28])
    rest = data[48 + text:]
    if len(rest) != 24 * m + 4 * d + 8 * m * n:
        return 'the answer has %d bytes for M=%d N=%d D=%d' % (len(rest), m, n, d)
    values = numpy.frombuffer(rest, '<f8', 3 * m), numpy.frombuffer(rest, '<f4', -1, 24 * m)
    return None if all(numpy.isfinite(each).all() for each in values) else 'the answer is not finite'


def output(path, code, check, errors):
    """An output file exists exactly after success, and its values are finite.

    There are two exceptions: a presentation in a folder that lacks sound is rendered, and the exit
    code is 1; and a file that was complete before SIGTERM arrived may stay."""
    if code == 143 and os.path.exists(path):
        return check(path)
    if code != 0 and b' s of sound is missing in ' not in errors:
        return None if not os.path.exists(path) else 'a failed run left ' + os.path.basename(path)
    return check(path) if os.path.exists(path) else 'there is no ' + os.path.basename(path)
