# SPDX-License-Identifier: Apache-2.0
"""A simulated hidraw node, made with umockdev: the base of virtual trackers."""
import collections
import os
import struct
import sys
import threading
import time

import gi

gi.require_version("UMockdev", "1.0")
from gi.repository import UMockdev  # noqa: E402

PRINT_LOCK = threading.Lock()
# Functions that receive each printed line.
LISTENERS = []
QUIET = [False]


def say(text):
    with PRINT_LOCK:
        for listener in list(LISTENERS):
            listener("mock: " + text + "\n")
        if QUIET[0]:
            return
        sys.stdout.write("mock: " + text + "\n")
        sys.stdout.flush()


class Handler(UMockdev.IoctlBase):
    """Answers the system calls on a hidraw node: feature reports, and one report per read."""

    def __init__(self, tracker):
        super().__init__()
        self.tracker = tracker

    def do_handle_ioctl(self, client):
        request = client.get_request()
        number_, size = request & 0xFF, (request >> 16) & 0x3FFF
        t, argument = self.tracker, client.get_arg()
        if t.gone:
            client.complete(-1, 19)
        elif (request >> 8) & 0xFF != ord("H"):
            client.complete(-1, 25)
        elif t.deaf and number_ in (6, 7):
            # The kernel gives up after 5 s.
            threading.Timer(t.deaf, client.complete, (-1, 5)).start()
        elif number_ == 1:
            # Sent once after every opening. Each opening has its own queue, at first empty.
            with t.lock:
                t.queue.clear()
            argument.resolve(0, 4).update(0, struct.pack("<I", len(t.descriptor)))
            client.complete(0, 0)
        elif number_ == 2:
            data = struct.pack("<I", len(t.descriptor)) + t.descriptor
            argument.resolve(0, len(data)).update(0, data)
            client.complete(0, 0)
        elif number_ == 3:
            argument.resolve(0, 8).update(0, struct.pack("<IHH", t.bus_number, t.vendor, t.model))
            client.complete(0, 0)
        elif t.slow and number_ in (6, 7):
            threading.Timer(t.slow, self.answer, (client, number_, size)).start()
        elif number_ in (6, 7):
            self.answer(client, number_, size)
        else:
            client.complete(-1, 22)
        return True

    def answer(self, client, number_, size):
        """Answers a request to set (6) or read (7) a feature report."""
        t, argument = self.tracker, client.get_arg()
        if number_ == 6:
            data = bytes(argument.resolve(0, size).retrieve())
            error = t.set_feature(data)
            client.complete(-1 if error else len(data), error)
        else:
            memory = argument.resolve(0, size)
            if t.dies_when_asked:
                t.dies_when_asked = False
                threading.Thread(target=t.unplug).start()
                client.complete(-1, 19)
                return
            data = t.get_feature(bytes(memory.retrieve())[0])
            if data is None:
                client.complete(-1, 32)
            else:
                memory.update(0, data[:size])
                client.complete(len(data[:size]), 0)

    def do_handle_read(self, client):
        # The pseudo-terminal contains one byte (a token) for each report, so that poll() returns.
        count, error = client.execute()
        if count <= 0:
            client.complete(count, error)
            return True
        t = self.tracker
        with t.lock:
            t.tokens -= count
            report = t.queue.popleft() if t.queue else None
            if count > 1:
                t.wake()
        if report is None:
            client.complete(-1, 11)
        else:
            client.get_arg().update(0, report)
            client.complete(len(report), 0)
        return True

    def do_handle_write(self, client):
        data = bytes(client.get_arg().retrieve())
        if self.tracker.gone:
            client.complete(-1, 19)
        elif self.tracker.output(data):
            client.complete(len(data), 0)
        else:
            client.complete(-1, 32)
        return True


class Node:
    """A device on a testbed. A subclass calls `identify` and answers the feature reports."""

    interface = 3
    driver = "hid-generic"

    def __init__(self, testbed, index, options):
        self.testbed, self.index, self.options = testbed, index, options
        self.bus_number = 3 if options.bus == "usb" else 5
        self.serial = options.serial if options.count == 1 else options.serial[:-1] + str(index + 1)
        self.minor = index - options.count
        self.parent = "/devices/pci0000:00/0000:00:14.0/usb1/1-%d" % (index + 1)
        self.queue, self.lock = collections.deque(), threading.Lock()
        self.tokens = 0
        self.stalled_until = 0.0
        self.log = []
        self.dies_when_asked = False
        # Seconds for which no feature report is answered.
        self.deaf = 5 if index < getattr(options, "deaf", 0) else 0
        # Seconds by which the answers to feature reports are late.
        self.slow = 0
        self.gone, self.fd, self.handler = True, -1, None

    def identify(self, vendor, model, descriptor, product):
        self.vendor, self.model, self.descriptor = vendor, model, descriptor
        self.product = product
        self.name = "%04X:%04X:%04X.%04X" % (self.bus_number, vendor, model, self.index + 1)
        usb = self.options.bus == "usb"
        self.top = self.parent if usb else self.parent + "/" + self.name

    def reset(self):
        """Puts the device into the state in which it is just after it has been switched on."""

    def get_feature(self, number_):
        return None

    def set_feature(self, data):
        """Takes a feature report; returns 0 or an errno."""
        return 32

    def output(self, data):
        """Takes an output report; returns whether the device accepts it."""
        return False

    def records(self):
        bus, name = "%04X" % self.bus_number, self.name
        usb = self.options.bus == "usb"
        place = self.parent + "/1-%d:1.0/" % (self.index + 1) if usb else self.parent + "/"
        product = self.product
        text = "P: %s%s/hidraw/%s\nN: %s\n" % (place, name, self.node, self.node)
        text += "E: DEVNAME=/dev/%s\nE: MAJOR=245\nE: MINOR=%d\n" % (self.node, self.minor)
        text += "E: SUBSYSTEM=hidraw\nA: dev=245:%d\\n\nL: device=../../../%s\n\n" % (
            self.minor,
            name,
        )
        text += "P: %s%s\nE: DRIVER=%s\n" % (place, name, self.driver)
        text += "E: HID_ID=%s:%08X:%08X\nE: HID_NAME=%s\n" % (bus, self.vendor, self.model, product)
        text += "E: HID_UNIQ=%s\nE: SUBSYSTEM=hid\n" % self.serial
        text += "H: report_descriptor=%s\n\n" % self.descriptor.hex().upper()
        if usb:
            text += "P: %s\nE: DEVTYPE=usb_interface\nE: SUBSYSTEM=usb\n" % place[:-1]
            text += "A: bInterfaceNumber=%02x\\n\n\n" % self.interface
            text += "P: %s\nN: bus/usb/001/%03d\n" % (self.parent, self.index + 2)
            text += "E: DEVTYPE=usb_device\nE: SUBSYSTEM=usb\n"
            text += "A: idVendor=%04x\\n\nA: idProduct=%04x\\n\n" % (self.vendor, self.model)
            text += "A: bcdDevice=0102\\n\nA: manufacturer=Stillstage\\n\n"
            text += "A: product=%s\\n\nA: serial=%s\\n\n" % (product, self.serial)
        return text

    def plug(self):
        if not self.gone:
            return
        self.reset()
        self.queue.clear()
        self.tokens = 0
        # umockdev cannot use the name of a node twice.
        self.minor += self.options.count
        self.node = "hidraw%d" % self.minor
        self.testbed.add_from_string(self.records())
        self.handler = Handler(self)
        self.testbed.attach_ioctl("/dev/" + self.node, self.handler)
        self.fd = self.testbed.get_dev_fd("/dev/" + self.node)
        if self.options.deny:
            root = self.testbed.get_root_dir()
            os.chmod(root, 0o755)
            os.chmod(os.path.join(root, "dev", self.node), 0o000)
            os.chmod(os.path.join(root, "ioctl", "dev", self.node), 0o666)
        self.gone = False

    def unplug(self):
        if self.gone:
            return
        # The entries go first: umockdev leaves a socket open in a program that fails to open a node.
        self.testbed.remove_device("/sys" + self.top)
        with self.lock:
            self.gone = True
            os.close(self.fd)
        self.testbed.detach_ioctl("/dev/" + self.node)
        # umockdev leaves links to the device behind, and does not add the device again while they
        # exist.
        root = self.testbed.get_root_dir()
        dev = os.path.join(root, "dev")
        terminal = os.readlink(os.path.join(dev, self.node)).replace("/", "_")
        for path in (self.node, ".node/" + self.node, ".ptymap/" + terminal):
            os.unlink(os.path.join(dev, path))
        for folder, _, _ in os.walk(os.path.join(root, "sys")):
            for entry in os.scandir(folder):
                if entry.is_symlink() and not os.path.exists(entry.path):
                    os.unlink(entry.path)

    def wake(self):
        """Writes the missing tokens: one per waiting report, also for reports during a stall."""
        missing = len(self.queue) - self.tokens
        if missing > 0 and not self.gone:
            os.write(self.fd, b"T" * missing)
            self.tokens += missing

    def deliver(self, report):
        with self.lock:
            if self.gone:
                return False
            # The kernel keeps 63 reports, and drops later ones while its queue is full.
            if len(self.queue) < 63:
                self.queue.append(report)
            if time.monotonic() >= self.stalled_until:
                self.wake()
            return True
