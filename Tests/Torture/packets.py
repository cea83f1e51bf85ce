# SPDX-License-Identifier: Apache-2.0
"""Kinds of packets and reports: one process receives thousands of mutated ones."""
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time

import checks
import mutation
from processes import HERE, MEMORY_MB, SECONDS, resources, wait_until_handled

BATCH = 20000


def finish(process, seconds=3):
    """Sends SIGINT. Returns the reason if the process does not end with 130 in time."""
    wait_until_handled(process, signal.SIGINT)
    if process.poll() is not None:
        return 'ended early with exit code %d' % process.returncode
    process.send_signal(signal.SIGINT)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return 'did not end within %d s of SIGINT' % seconds
    return None if process.returncode == 130 else 'exit code %d after SIGINT' % process.returncode


class Watched:
    """Draws batches; a batch is one process `trackers watch`."""
    name, share = '', 2

    def __init__(self, torture, seed):
        self.torture, self.seed, self.failures, self.details = torture, seed, 0, ''
        self.folder = torture.folder(self.name)

    def start(self, words, wrapper=()):
        environment = dict(self.torture.environment, HOME=self.folder)
        self.out, self.err = open(self.folder + '/out', 'wb'), open(self.folder + '/err', 'wb')
        return subprocess.Popen(
            list(wrapper) + [self.torture.program('stillstage-engine'), 'trackers', 'watch'] + words, cwd=self.folder,
            env=environment, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err)

    def judge(self, process, before, after):
        reason = finish(process)
        self.out.close()
        self.err.close()
        if not reason and before and after:
            if after[0] > before[0]:
                reason = 'descriptors grew from %d to %d' % (before[0], after[0])
            if after[1] > before[1]:
                reason = 'threads grew from %d to %d' % (before[1], after[1])
            if after[2] - before[2] > 16 << 10:
                reason = 'memory grew from %d to %d KB' % (before[2], after[2])
        if not reason and after:
            if after[2] > MEMORY_MB << 10:
                reason = 'needed %d KB' % after[2]
            self.torture.peak = max(self.torture.peak, after[2] / 1024)
        if not reason:
            with open(self.folder + '/err', 'rb') as f:
                reason = checks.messages(f.read(), 130)
        return reason or checks.finite_text(self.folder + '/out')

    def end(self):
        pass


class Datagrams(Watched):
    def seeds(self):
        raise NotImplementedError

    def run(self, number):
        rng = random.Random('%s:%s:%d' % (self.seed, self.name, number))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind(('127.0.0.1', 0))
            port = s.getsockname()[1]
        where = rng.choice(self.presets).replace('PORT', str(port))
        process = self.start([where])
        seeds, target, sent = self.seeds(rng), ('127.0.0.1', port), 0
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect(target)
            before = None
            for index in range(BATCH + 2000):
                data = mutation.mutated(rng, seeds)[:60000]
                if index == 2000:
                    before = resources(process.pid)
                for _ in range(500):
                    try:
                        s.send(data)
                        break
                    except ConnectionRefusedError:  # It does not listen yet.
                        if process.poll() is not None:
                            break
                        time.sleep(0.01)
                if index % 32 == 0 and not self.drained(port, process):
                    break
                sent += 1
        time.sleep(0.2)
        reason = self.judge(process, before, resources(process.pid))
        with open(self.folder + '/err', 'rb') as f:
            if b'Address already in use' in f.read():  # Another program has taken the port meanwhile.
                return 0
        if reason:
            self.torture.fail(self, number, reason, ['trackers', 'watch', where], self.folder)
        return sent

    @staticmethod
    def drained(port, process):
        """Waits until the process has received all datagrams, so that none is lost."""
        mark = ':%04X ' % port
        for _ in range(10000):
            with open('/proc/net/udp') as f:
                rows = [each.split() for each in f if mark in each]
            if not [each for each in rows if each[1].endswith(mark.strip()) and not each[4].endswith(':00000000')]:
                return True
            if process.poll() is not None:
                return False
            time.sleep(0.0005)
        return False


def osc(address, types, *values):
    def padded(text):
        data = text.encode() + b'\0'
        return data + bytes(-len(data) % 4)
    body = b''
    for letter, value in zip(types, values):
        body += padded(value) if letter == 's' else struct.pack({'f': '>f', 'd': '>d', 'i': '>i', 'h': '>q'}[letter], value)
    return padded(address) + padded(',' + types) + body


class OSC(Datagrams):
    name = 'osc'
    presets = ['osc:PORT'] + ['osc:PORT:' + each for each in ('ypr', 'quaternion', 'sparta', 'iem', 'iem-ypr')]

    def seeds(self, rng):
        single = [
            osc('/ypr', 'fff', 10, 20, 30), osc('/ypr', 'ddi', 10, 20, 30), osc('/yaw', 'f', 5), osc('/pitch', 'd', 5),
            osc('/quaternion', 'ffff', 1, 0, 0, 0), osc('/SceneRotator/quaternions', 'ffff', 0.7, 0.7, 0, 0),
            osc('/SceneRotator/ypr', 'fff', 1, 2, 3), osc('/SceneRotator/qw', 'f', 1), osc('/qz', 'h', 1),
            osc('/name', 's', 'text')]
        bundle = b'#bundle\0' + bytes(7) + b'\1'
        for each in single[:4]:
            bundle += struct.pack('>i', len(each)) + each
        nested = b'#bundle\0' + bytes(7) + b'\1' + struct.pack('>i', len(bundle)) + bundle
        return single + [bundle, nested]


class OpenTrack(Datagrams):
    name = 'opentrack'
    presets = ['opentrack:PORT']

    def seeds(self, rng):
        return [struct.pack('<6d', 1, 2, 3, 10, 20, 30), struct.pack('<6dI', 0, 0, 0, -170, 5, 0, 7)]


class FreePIE(Datagrams):
    name, share = 'freepie', 1
    presets = ['freepie:PORT']

    def seeds(self, rng):
        return [struct.pack('<BB3f', 0, 2, 0.1, 0.2, 0.3), struct.pack('<BB12f', 0, 3, *[0.1 * n for n in range(12)])]


class Frames(Watched):
    """Packets of earphones, from a capture file."""
    name, share = 'earphones', 3

    def run(self, number):
        rng = random.Random('%s:%s:%d' % (self.seed, self.name, number))
        count, kind = 5000, rng.choice(('airpods', 'galaxy-buds'))
        airpods = [bytes.fromhex('04000400') + bytes(rng.randrange(256) for _ in range(n)) for n in (2, 8, 60, 76)] + [
            bytes.fromhex('040004001700000010000f00') + bytes(64),
            bytes.fromhex('040004004e0044') + bytes(range(70)), bytes.fromhex('0400040006000200'),
            bytes.fromhex('04000400040003020164010104015f020108011001')]
        galaxy = [bytes([0xFD, n + 3, 0x00, kind]) + bytes(n) + bytes([0, 0, 0xDD])
                  for n in (4, 9, 20, 40) for kind in (0x60, 0x61, 0xC2, 0xC3)]
        seeds = airpods if kind == 'airpods' else galaxy
        lines = ['stillstage-frames 1 ' + kind]
        lines += ['%.6f < %s' % (n * 1e-4, (mutation.mutated(rng, seeds)[:1500] or b'\0').hex()) for n in range(count)]
        with open(self.folder + '/in.frames', 'w') as f:
            f.write('\n'.join(lines) + '\n')
        process = self.start(['replay:in.frames'])
        for _ in range(300):
            time.sleep(0.05)
            with open(self.folder + '/err', 'rb') as f:
                if process.poll() is not None or b'disconnected' in f.read():
                    break
        reason = self.judge(process, None, resources(process.pid))
        if reason:
            self.torture.fail(self, number, reason, ['trackers', 'watch', 'replay:in.frames'], self.folder,
                              ('\n'.join(lines) + '\n').encode(), 'in.frames')
        return count


class Fed(Watched):
    """Data of virtual devices that a script of this folder simulates. Its last line has the results."""
    count = 10000

    def command(self, rng):
        """Returns a name for messages, and the command that runs the program."""
        raise NotImplementedError

    def run(self, number):
        rng = random.Random('%s:%s:%d' % (self.seed, self.name, number))
        name, wrapper = self.command(rng)
        process = self.start(['SN-0001'], wrapper)
        try:
            process.wait(120 + 5 * SECONDS)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
        self.out.close()
        self.err.close()
        with open(self.folder + '/out', encoding='utf-8', errors='replace') as f:
            rows = f.read().splitlines()
        done = [each for each in rows if each.startswith('torture: ')]
        words = done[-1].split() if done else []
        reason = None
        if len(words) != 7:
            reason = 'the virtual device ended early with exit code %d' % process.returncode
        elif words[1] != '130':
            reason = 'exit code %s after SIGINT' % words[1]
        elif int(words[4]) > int(words[3]):
            reason = 'descriptors grew from %s to %s' % tuple(words[3:5])
        elif int(words[6]) > int(words[5]) + (16 << 10) or int(words[6]) > MEMORY_MB << 10:
            reason = 'memory grew from %s to %s KB' % tuple(words[5:])
        with open(self.folder + '/err', 'rb') as f:
            errors = f.read()
        # The device is plugged in again if the program is slow, and may be absent when it looks. On a
        # busy computer, the device itself may answer too late.
        if words[1:3] == ['1', '0'] and (b'none is connected' in errors or b'did not answer within 1 s' in errors):
            return 0
        reason = reason or checks.messages(errors, 130)
        reason = reason or checks.finite_text(self.folder + '/out')
        if reason:
            self.torture.fail(self, number, '%s: %s' % (name, reason), ['trackers', 'watch', 'SN-0001'], self.folder)
        else:
            self.torture.peak = max(self.torture.peak, int(words[6]) / 1024)
        return int(words[2]) if len(words) == 7 else 0


class HID(Fed):
    """Reports of virtual devices; the device answers requests for features with mutated bytes too."""
    name, share = 'hid', 12
    families = ['dualsense', 'dualshock4', 'xreal', 'switch-pro', 'joycon-left', 'joycon-right', 'rift-dk1', 'rift-dk2',
                'rift-cv1', 'psvr', 'hdk', 'dualsense-clone']

    def command(self, rng):
        family = rng.choice(self.families)
        return family, ['umockdev-wrapper', '/usr/bin/python3', HERE + '/hid_reports.py', family,
                        str(rng.randrange(1 << 30)), str(self.count), '--']


class Glasses(Fed):
    """Mutated frames of glasses that are a network card on USB and serve TCP."""
    name, share = 'glasses', 3

    def command(self, rng):
        return 'glasses', glasses_wrapper() + [str(rng.randrange(1 << 30)), str(self.count), '--']


def glasses_wrapper():
    return ['unshare', '--map-root-user', '--net', '--mount', sys.executable, HERE + '/glasses.py']


def can_simulate_glasses():
    """Returns whether this user may create a network of its own."""
    return subprocess.run(glasses_wrapper() + ['0', '0', '--'], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


KINDS = [OSC, OpenTrack, FreePIE, Frames, HID] + ([Glasses] if can_simulate_glasses() else [])
