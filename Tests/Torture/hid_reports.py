#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Delivers COUNT mutated reports of a virtual device to PROGRAM, as fast as it reads them.

usage: umockdev-wrapper /usr/bin/python3 hid_reports.py FAMILY SEED COUNT -- PROGRAM [ARGS...]

Answers to requests for feature reports are mutated with a chance of one in four, and the device is
unplugged and plugged in again now and then. At the end, PROGRAM receives SIGINT. The last line is
`torture: EXITCODE REPORTS DESCRIPTORS DESCRIPTORS KB KB`, with the open descriptors and the resident
memory at the start and end.
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
for folder in (HERE, HERE + '/../Fixtures', HERE + '/../../Calibration/virtual-tracker'):
    sys.path.insert(1, folder)
import mutation  # noqa: E402
from processes import resources, wait_until_handled  # noqa: E402
from imu_families import FAMILIES, Wave  # noqa: E402
from virtual_hid import QUIET, Node  # noqa: E402

from gi.repository import GLib, UMockdev  # noqa: E402


class Device(Node):
    def __init__(self, testbed, index, options, family, rng):
        super().__init__(testbed, index, options)
        self.family, self.rng = family, rng
        self.interface = family.interface + index
        self.driver = getattr(family, 'driver', 'hid-generic')
        self.identify(family.vendor, family.model, family.descriptor, family.product)

    def get_feature(self, number):
        data = self.family.features.get(number)
        return mutation.mutated(self.rng, [data]) if data and self.rng.random() < 0.25 else data

    def set_feature(self, data):
        return self.family.set_feature(data)

    def output(self, data):
        return self.family.output(data, self.index)


def feed(nodes, family, rng, count, program, done):
    wait_until_handled(program, signal.SIGINT)
    delivered, deadline, first = 0, time.monotonic() + 90, None
    while delivered < count and time.monotonic() < deadline and program.poll() is None:
        while family.replies:
            nodes[0].deliver(family.replies.pop(0))
        if not family.started:
            time.sleep(0.01)
            if time.monotonic() > deadline - 80:
                for node in nodes:
                    node.unplug()
                family.reset(time.monotonic_ns())
                for node in nodes:
                    node.plug()
                deadline = min(deadline, time.monotonic() + 60)
                time.sleep(1)
            continue
        if delivered >= 1000 and not first:
            first = needs(program)
        for _ in range(16):
            report = family.report(time.monotonic_ns())
            nodes[0].deliver(mutation.mutated(rng, [report])[:len(report)] or b'\0')
            delivered += 1
        for _ in range(2000):
            with nodes[0].lock:
                if not nodes[0].queue:
                    break
            time.sleep(0.0005)
        else:
            break
    time.sleep(0.1)
    last = needs(program)
    if program.poll() is None:
        program.send_signal(signal.SIGINT)
    try:
        program.wait(5)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()
    first = first or last
    print('torture: %d %d %d %d %d %d' % (
        program.returncode, delivered, first[0], last[0], first[1], last[1]), flush=True)
    GLib.idle_add(done)


def needs(program):
    """Returns the descriptors and the resident kilobytes; zeros if the program has ended."""
    found = resources(program.pid)
    return (found[0], found[2]) if found else (0, 0)


def main():
    end = sys.argv.index('--')
    name, seed, count = sys.argv[1:end]
    family, rng = FAMILIES[name](Wave(), 'usb'), random.Random(int(seed))
    options = argparse.Namespace(bus='usb', serial='SN-0001', count=family.nodes, deny=False)
    if family.nodes > 1:
        options.serial = 'SN-0001'
    QUIET[0] = True
    testbed = UMockdev.Testbed.new()
    nodes = [Device(testbed, index, options, family, rng) for index in range(family.nodes)]
    for node in nodes:
        node.serial = options.serial
    family.reset(time.monotonic_ns())
    for node in nodes:
        node.plug()
    program = subprocess.Popen(sys.argv[end + 1:], stdin=subprocess.DEVNULL)
    # Warnings of umockdev in this process must not be taken for messages of the program.
    with open('device-messages', 'wb') as f:
        os.dup2(f.fileno(), 2)
    loop = GLib.MainLoop()
    threading.Thread(target=feed, args=(nodes, family, rng, int(count), program, loop.quit), daemon=True).start()
    loop.run()
    os._exit(0)


main()
