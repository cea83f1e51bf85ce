#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A virtual motion sensor of a given family for programs that use libhidapi-hidraw.

usage: umockdev-wrapper /usr/bin/python3 virtual_sensor.py FAMILY [options] -- PROGRAM [ARGS...]

PROGRAM sees one device of the family (see imu_families.py, imu_glasses.py), whose motion is a function of
CLOCK_MONOTONIC. When PROGRAM ends, this script ends with the same exit status. The drivers of the
kernel (hid-playstation, hid-nintendo, ...) do not exist.

  --bus usb|bluetooth    reported connection (default usb)
  --motion wave|still    motion of the sensor (default wave)
  --serial TEXT          serial number (default SN-0001); with --count, its last digit is replaced
  --count N              number of devices (default 1)
  --same                 all devices have the same serial number
  --deny                 the device cannot be opened by other users
  --absent               the device is unplugged at the start
  --noise                same as the command `noise on` at the start
  --dies                 same as the command `die` at the start
  --stdin                read commands from standard input, one per line:
    unplug | plug | stall MS | noise on|off | short on|off | jump SECONDS | button on|off | log | quit
    die (unplug while a feature is read)
"""
import argparse
import os
import random
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
VIRTUAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Calibration/virtual-tracker")
sys.path.insert(1, VIRTUAL)
from imu_families import FAMILIES, Still, Wave  # noqa: E402
from imu_glasses import GLASSES  # noqa: E402
from virtual_hid import Node, say  # noqa: E402

from gi.repository import GLib, UMockdev  # noqa: E402


FAMILIES = FAMILIES | GLASSES


class SensorNode(Node):
    def __init__(self, testbed, index, options, device, part):
        super().__init__(testbed, index, options)
        family = device.family
        self.device, self.part = device, part
        self.serial = device.serial
        self.interface = family.interface + part
        self.driver = getattr(family, "driver", "hid-generic")
        self.identify(family.vendor, family.model, family.descriptor, family.product)

    def get_feature(self, number_):
        return self.device.family.features.get(number_)

    def set_feature(self, data):
        error = self.device.family.set_feature(data)
        self.log.append("feature %s %d" % (data.hex(), error))
        return error

    def output(self, data):
        taken = self.device.family.output(data, self.part)
        self.log.append("output %s %s" % (data.hex(), "ok" if taken else "refused"))
        self.device.answer()
        return taken


class Device:
    def __init__(self, testbed, number, options):
        motion = Wave() if options.motion == "wave" else Still()
        self.family = FAMILIES[options.family](motion, options.bus)
        self.serial = options.serial if options.devices == 1 or options.same else (
            options.serial[:-1] + str(number + 1))
        parts = self.family.nodes
        self.nodes = [
            SensorNode(testbed, number * parts + part, options, self, part)
            for part in range(parts)
        ]
        self.noise = self.short = False
        self.ahead = 0

    def plug(self):
        self.family.reset(time.monotonic_ns())
        for node in self.nodes:
            node.plug()

    def unplug(self):
        for node in self.nodes:
            node.unplug()

    def answer(self):
        while self.family.replies:
            self.nodes[0].deliver(self.family.replies.pop(0))

    def feed(self):
        due = time.monotonic()
        random.seed(1)
        while True:
            due += 1 / self.family.rate
            wait = due - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            elif wait < -0.5:
                due = time.monotonic()
            if self.nodes[0].gone or not self.family.started:
                continue
            report = self.family.report(time.monotonic_ns() + self.ahead)
            if self.noise:
                known = random.randrange(2)
                self.nodes[0].deliver(report[:known] + random.randbytes(len(report) - known))
            if self.short:
                report = report[: random.randrange(1, len(report))]
            self.nodes[0].deliver(report)


class Commands:
    def __init__(self, device, quit_):
        self.device, self.quit = device, quit_

    def run(self, words):
        d, name = self.device, words[0]
        if name in ("unplug", "plug"):
            getattr(d, name)()
        elif name == "stall":
            d.nodes[0].stalled_until = time.monotonic() + float(words[1]) / 1000
        elif name in ("noise", "short"):
            setattr(d, name, words[1] == "on")
        elif name == "jump":
            d.ahead += int(float(words[1]) * 1e9)
        elif name == "button":
            d.family.button = words[1] == "on"
        elif name == "die":
            d.nodes[0].dies_when_asked = True
        elif name == "log":
            for node in d.nodes:
                for entry in list(node.log):
                    say(entry)
        elif name == "quit":
            self.quit()
        else:
            raise ValueError("unknown command")
        say("%s at %d" % (" ".join(words), time.monotonic_ns()))

    def follow(self, stream):
        for line in stream:
            if line.split():
                self.run(line.split())


def parse():
    p = argparse.ArgumentParser(usage=__doc__.split("usage: ", 1)[1])
    p.add_argument("family", choices=sorted(FAMILIES))
    p.add_argument("--bus", choices=("usb", "bluetooth"), default="usb")
    p.add_argument("--motion", choices=("wave", "still"), default="wave")
    p.add_argument("--serial", default="SN-0001")
    p.add_argument("--count", type=int, default=1)
    for flag in ("deny", "absent", "stdin", "same", "noise", "dies"):
        p.add_argument("--" + flag, action="store_true")
    if "--" not in sys.argv:
        p.error("a program to run is missing")
    end = sys.argv.index("--")
    options = p.parse_args(sys.argv[1:end])
    options.program = sys.argv[end + 1 :]
    options.devices = options.count
    options.count *= FAMILIES[options.family].nodes
    return options


def main():
    options = parse()
    testbed = UMockdev.Testbed.new()
    devices = [Device(testbed, n, options) for n in range(options.devices)]
    for device in devices:
        device.noise = options.noise
        device.nodes[0].dies_when_asked = options.dies
        if not options.absent:
            device.plug()
        threading.Thread(target=device.feed, daemon=True).start()
    loop = GLib.MainLoop()
    keys = subprocess.DEVNULL if options.stdin else None
    program = subprocess.Popen(options.program, stdin=keys)
    commands = Commands(devices[0], program.terminate)
    if options.stdin:
        threading.Thread(target=commands.follow, args=(sys.stdin,), daemon=True).start()

    def wait():
        program.wait()
        GLib.idle_add(loop.quit)

    threading.Thread(target=wait, daemon=True).start()
    loop.run()
    say("status %d" % program.returncode)
    os._exit(program.returncode if program.returncode >= 0 else 128 - program.returncode)


main()
