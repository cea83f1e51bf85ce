#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A virtual Android head tracker for programs that use libhidapi-hidraw.

usage: umockdev-wrapper /usr/bin/python3 virtual_tracker.py [options] -- PROGRAM [ARGS...]

Runs PROGRAM with a simulated head tracker: /dev/hidraw0, or another number after each `plug`. The
tracker sends nothing until PROGRAM starts it through its feature reports. The process ID of PROGRAM
is printed as `mock: program PID`. When PROGRAM ends, the script prints the log of the feature
reports that were written, and ends with the exit status of PROGRAM.

  --rate HZ              reports per second (default 100)
  --version 1|2          version of the protocol (default 1)
  --variant example|wide layout of the reports: as in the published example, or with other IDs,
                         order and widths (default example)
  --bus usb|bluetooth    bus to which the tracker seems to be connected (default usb)
  --serial TEXT          serial number (default SN-0001)
  --product TEXT         name of the product (default Virtual Head Tracker)
  --count N              number of trackers (default 1); the last characters of the serial numbers
                         become 1, 2, ..., and commands apply to the first tracker
  --decoy                adds a keyboard, which must not be taken for a tracker
  --broken-description   writes a text of another protocol into the description feature
  --deaf N               the first N trackers do not answer requests for feature reports
  --deny                 lets only root open the device node
  --absent               begins with the tracker unplugged
  --stdin                reads commands from standard input; PROGRAM then gets an empty one
  --control PATH         creates a Unix socket at PATH and reads commands from its connections
  --quiet                prints nothing, so that standard output contains only that of PROGRAM

Each line of input is one command. The answer is `mock: COMMAND at NANOSECONDS`, in the time of
CLOCK_MONOTONIC. After `pose`, `turn` and `jump`, a line `mock: sent COMMAND at NANOSECONDS`
follows, with the time just before the next report was sent.

  rate HZ                sets the number of reports per second
  pose YAW PITCH ROLL    sets the pose
  turn YAW SECONDS       turns smoothly to a yaw
  unplug, plug           removes the tracker, adds it again
  stall MS               keeps the reports of this time back, and then delivers them together
  noise N                sends N reports of random bytes
  jump DEGREES           turns the tracker's reference frame, and reports the discontinuity
  zerogyro on|off        reports an angular velocity of zero, or the true one
  mute on|off            stops the reports, or continues them
  deaf SECONDS           answers each request for a feature report after that time, with an error;
                         0 answers again
  slow SECONDS           delays the answers to requests for feature reports
  hold MS                delays the effect of each later `pose`, like a slow sensor; `sent` still
                         states the time of the first report after the command
  log                    prints the feature reports that have been written
  follow                 sends all later output of the script to this connection too
  quit                   ends PROGRAM

SIGINT and SIGTERM are passed on to PROGRAM. Angles are in degrees: yaw is positive to the left,
pitch is positive upwards, and roll is positive with the right ear down. The script needs Debian's
/usr/bin/python3 and its packages umockdev, gir1.2-umockdev-1.0 and python3-gi.
"""
import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import gi

sys.dont_write_bytecode = True
from tracker_reports import *  # noqa: E402,F403
from virtual_hid import LISTENERS, QUIET, Node, say  # noqa: E402

gi.require_version("UMockdev", "1.0")
from gi.repository import GLib, UMockdev  # noqa: E402

class Motion:
    """The pose of the head as a function of time: constant, or a turn with minimum jerk."""

    def __init__(self):
        self.start, self.goal, self.begin, self.seconds = (0.0, 0.0, 0.0), None, 0.0, 1.0
        self.reference = 0.0

    def angles(self, now):
        if self.goal is None:
            return self.start
        s = max(0.0, min(1.0, (now - self.begin) / self.seconds))
        s = s**3 * (10 - 15 * s + 6 * s * s)
        return tuple(a + (b - a) * s for a, b in zip(self.start, self.goal))

    def quaternion(self, now):
        yaw, pitch, roll = self.angles(now)
        return from_angles(yaw + self.reference, pitch, roll)

    def velocity(self, now):
        a, b = self.quaternion(now - 5e-4), self.quaternion(now + 5e-4)
        return tuple(v / 1e-3 for v in rotation_vector(multiply((a[0], -a[1], -a[2], -a[3]), b)))

    def pose(self, yaw, pitch, roll):
        self.start, self.goal = (yaw, pitch, roll), None

    def turn(self, yaw, seconds):
        now = time.monotonic()
        here = self.angles(now)
        self.start, self.goal = here, (yaw, here[1], here[2])
        self.begin, self.seconds = now, max(seconds, 1e-3)


class Tracker(Node):
    def __init__(self, testbed, index, options):
        super().__init__(testbed, index, options)
        text, self.layout = layout(options.variant, options.version)
        self.identify(0x1D6B, 0x0104, descriptor(self.layout), options.product)
        self.text = "#SomethingElse#".ljust(len(text)) if options.broken_description else text
        self.motion = Motion()
        self.rate, self.counter = options.rate, 0
        self.zero_gyro = self.mute = False
        self.noise = 0
        self.waiting = []
        self.hold = 0.0
        self.held = []
        self.started = False
        self.reset()

    def reset(self):
        self.features = {}
        for (kind, number_), fields in self.layout.items():
            if kind == FEATURE:
                letters = {DESCRIPTION: list(self.text.encode())}
                self.features[number_] = pack(number_, fields, letters)
        for usage, value in ((REPORTING, NO_EVENTS), (POWER, POWER_OFF)):
            self.choose(usage, value)
        self.started = False

    def choose(self, usage, value):
        for (kind, number_), fields in self.layout.items():
            for f in fields:
                if kind == FEATURE and f.usage == usage:
                    values = unpack(fields, self.features[number_])
                    values[usage] = [f.choices.index(value)]
                    self.features[number_] = pack(number_, fields, values)

    def chosen(self, usage):
        for (kind, number_), fields in self.layout.items():
            for f in fields:
                if kind == FEATURE and f.usage == usage:
                    value = unpack(fields, self.features[number_])[usage][0]
                    if f.choices is None:
                        return value
                    return f.choices[value] if value < len(f.choices) else 0
        return None

    def get_feature(self, number_):
        return self.features.get(number_)

    def set_feature(self, data):
        if data[0] not in self.features:
            return 32
        if len(data) != len(self.features[data[0]]):
            self.log.append("wrong length %d for report %d" % (len(data), data[0]))
            return 22
        self.features[data[0]] = data
        state = " ".join(
            "%s=%s" % (name, "-" if v is None else "%x" % v)
            for name, v in (
                ("reporting", self.chosen(REPORTING)),
                ("power", self.chosen(POWER)),
                ("interval", self.chosen(INTERVAL)),
                ("transport", self.chosen(TRANSPORT)),
            )
        )
        self.log.append("%s %s" % (data.hex(), state))
        self.started = self.chosen(REPORTING) == ALL_EVENTS and self.chosen(POWER) == POWER_FULL
        return 0

    def report(self, now):
        number_, fields = [(k[1], f) for k, f in self.layout.items() if k[0] == INPUT][0]
        by_usage = {f.usage: f for f in fields}
        turn = right_front_up(rotation_vector(self.motion.quaternion(now)))
        rate = (0, 0, 0) if self.zero_gyro else right_front_up(self.motion.velocity(now))
        return pack(
            number_,
            fields,
            {
                ROTATION: quantise(by_usage[ROTATION], turn),
                VELOCITY: quantise(by_usage[VELOCITY], rate),
                COUNTER: [self.counter],
            },
        )

    def feed(self):
        due = time.monotonic()
        while True:
            due += 1 / self.rate
            wait = due - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            elif wait < -0.5:
                due = time.monotonic()
            if self.gone or not self.started or self.mute:
                continue
            while self.noise > 0:
                self.noise -= 1
                self.deliver(random.randbytes(random.choice((1, 2, 7, 14, 14, 14, 60))))
            while self.held and self.held[0][0] <= time.monotonic():
                self.motion.pose(*self.held.pop(0)[1])
            names, self.waiting = self.waiting, []
            stamp = time.monotonic_ns()
            if self.deliver(self.report(time.monotonic())):
                for name in names:
                    say("sent %s at %d" % (name, stamp))


class Commands:
    def __init__(self, tracker, quit_):
        self.tracker, self.quit = tracker, quit_

    def run(self, line):
        words = line.split()
        if not words:
            return None
        t, name, numbers = self.tracker, words[0], words[1:]
        begun = time.monotonic_ns()
        if name == "rate":
            t.rate = float(numbers[0])
        elif name == "pose":
            pose = tuple(float(v) for v in numbers)
            if t.hold > 0:
                t.held = t.held + [(time.monotonic() + t.hold, pose)]
            else:
                t.motion.pose(*pose)
        elif name == "hold":
            t.hold = float(numbers[0]) / 1000
        elif name == "slow":
            t.slow = float(numbers[0])
        elif name == "deaf":
            t.deaf = float(numbers[0])
        elif name == "turn":
            t.motion.turn(*(float(v) for v in numbers))
        elif name == "unplug":
            t.unplug()
        elif name == "plug":
            t.plug()
        elif name == "stall":
            t.stalled_until = time.monotonic() + float(numbers[0]) / 1000
        elif name == "noise":
            t.noise = int(numbers[0])
        elif name == "jump":
            t.motion.reference += float(numbers[0])
            t.counter = (t.counter + 1) & 255
        elif name in ("zerogyro", "mute"):
            setattr(t, "zero_gyro" if name == "zerogyro" else "mute", numbers != ["off"])
        elif name == "log":
            for entry in list(t.log):
                say("feature " + entry)
        elif name == "quit":
            self.quit()
        else:
            raise ValueError("unknown command")
        if name in ("pose", "turn", "jump"):
            t.waiting = t.waiting + [line.strip()]
        return time.monotonic_ns() if name == "plug" else begun

    def answer(self, line):
        try:
            stamp = self.run(line)
        except (ValueError, IndexError, TypeError) as e:
            return "error: %s: %s" % (line.strip(), e)
        return None if stamp is None else "%s at %d" % (line.strip(), stamp)

    def from_stream(self, stream):
        for line in stream:
            reply = self.answer(line)
            if reply:
                say(reply)

    def from_socket(self, path):
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen(4)
        while True:
            connection, _ = server.accept()
            try:
                with connection, connection.makefile("r") as stream:
                    self.talk(connection, stream)
            except OSError:
                pass  # The client does not wait for its answers.

    def talk(self, connection, stream):
        def hear(text):
            try:
                connection.sendall(text.encode())
            except OSError:
                if hear in LISTENERS:
                    LISTENERS.remove(hear)

        for line in stream:
            if line.strip() == "follow":
                LISTENERS.append(hear)
                continue
            reply = self.answer(line)
            if reply:
                say(reply)
                if hear not in LISTENERS:
                    hear("mock: " + reply + "\n")
        if hear in LISTENERS:
            LISTENERS.remove(hear)


KEYBOARD = """P: /devices/platform/decoy/0003:04D9:0006.0099/hidraw/hidraw99
N: hidraw99
E: DEVNAME=/dev/hidraw99
E: MAJOR=245
E: MINOR=99
E: SUBSYSTEM=hidraw
A: dev=245:99\\n
L: device=../../../0003:04D9:0006.0099

P: /devices/platform/decoy/0003:04D9:0006.0099
E: DRIVER=hid-generic
E: HID_ID=0003:000004D9:00000006
E: HID_NAME=Decoy Keyboard
E: HID_UNIQ=
E: SUBSYSTEM=hid
H: report_descriptor=05010906A101050719E029E71500250175019508810295017508810195067508150025650507190029658100C0
"""


def parse():
    p = argparse.ArgumentParser(usage=__doc__.split('usage: ', 1)[1])
    p.add_argument("--rate", type=float, default=100)
    p.add_argument("--version", type=int, choices=(1, 2), default=1)
    p.add_argument("--variant", choices=("example", "wide"), default="example")
    p.add_argument("--bus", choices=("usb", "bluetooth"), default="usb")
    p.add_argument("--serial", default="SN-0001")
    p.add_argument("--product", default="Virtual Head Tracker")
    p.add_argument("--count", type=int, default=1)
    p.add_argument("--deaf", type=int, default=0)
    p.add_argument("--control")
    for flag in ("decoy", "broken-description", "deny", "absent", "stdin", "quiet"):
        p.add_argument("--" + flag, action="store_true")
    p.add_argument("program", nargs=argparse.REMAINDER)
    options = p.parse_args()
    if options.program[:1] == ["--"]:
        options.program = options.program[1:]
    if not options.program:
        p.error("a program to run is missing")
    if "umockdev" not in os.environ.get("LD_PRELOAD", ""):
        p.error("run it under umockdev-wrapper")
    return options


def main():
    options = parse()
    QUIET[0] = options.quiet
    testbed = UMockdev.Testbed.new()
    trackers = [Tracker(testbed, i, options) for i in range(options.count)]
    if options.decoy:
        testbed.add_from_string(KEYBOARD)
    for t in trackers:
        if not options.absent:
            t.plug()
        threading.Thread(target=t.feed, daemon=True).start()
    loop = GLib.MainLoop()
    # Without --stdin, the program keeps its standard input.
    keys = subprocess.DEVNULL if options.stdin else None
    try:
        program = subprocess.Popen(options.program, stdin=keys)
    except OSError as e:
        sys.exit("virtual_tracker: cannot start %s: %s" % (options.program[0], e.strerror))
    for number_ in (signal.SIGINT, signal.SIGTERM):
        GLib.unix_signal_add(
            GLib.PRIORITY_HIGH, number_, lambda n: program.send_signal(n) or True, number_)
    say("program %d" % program.pid)
    commands = Commands(trackers[0], program.terminate)
    if options.stdin:
        threading.Thread(target=commands.from_stream, args=(sys.stdin,), daemon=True).start()
    if options.control:
        threading.Thread(target=commands.from_socket, args=(options.control,), daemon=True).start()

    def wait():
        program.wait()
        GLib.idle_add(loop.quit)

    threading.Thread(target=wait, daemon=True).start()
    loop.run()
    for t in trackers:
        for entry in t.log:
            say("feature " + entry)
    say("status %d" % program.returncode)
    os._exit(program.returncode if program.returncode >= 0 else 128 - program.returncode)


main()
