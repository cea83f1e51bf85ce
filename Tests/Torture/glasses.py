# SPDX-License-Identifier: Apache-2.0
"""Serves COUNT mutated frames of XREAL One glasses over TCP to PROGRAM, as fast as it reads them.

usage: unshare --map-root-user --net --mount python3 glasses.py SEED COUNT -- [PROGRAM [ARGS...]]

The network card of the glasses is the loopback interface of this new network. The connection is
closed now and then, also within a frame. At the end, PROGRAM receives SIGINT. The last line is the
same as that of hid_reports.py. Without PROGRAM, the exit code shows whether this can work.
"""
import fcntl
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(1, os.path.dirname(os.path.abspath(__file__)))
import mutation  # noqa: E402
from processes import resources, wait_until_handled  # noqa: E402

ADDRESS, PORT = '169.254.2.1', 52998
SENSORS = bytes.fromhex('00401f000040')


def set_up_network():
    """Gives the loopback interface the address of the glasses."""
    def pack(address):
        return struct.pack('16sH2s4s8x', b'lo', socket.AF_INET, b'', socket.inet_aton(address))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, 0x8916, pack(ADDRESS))  # SIOCSIFADDR
        fcntl.ioctl(s, 0x891C, pack('255.255.255.0'))  # SIOCSIFNETMASK
        fcntl.ioctl(s, 0x8914, struct.pack('16sh14x', b'lo', 1))  # SIOCSIFFLAGS, IFF_UP


def set_up_device(folder):
    """Makes sysfs show the loopback interface as a USB device."""
    device = folder + '/1-1'
    os.makedirs(device + '/1-1:1.0')
    for name, text in (('idVendor', '3318'), ('idProduct', '0438'), ('serial', 'SN-0001')):
        with open('%s/%s' % (device, name), 'w') as f:
            f.write(text + '\n')
    os.makedirs(folder + '/net/lo')
    os.symlink(device + '/1-1:1.0', folder + '/net/lo/device')
    subprocess.run(['mount', '--bind', folder + '/net', '/sys/class/net'], check=True)


def frame(rng, nanoseconds):
    data = bytearray(134)
    data[:6] = bytes.fromhex('283600000080')
    data[14:22] = struct.pack('<Q', nanoseconds)
    data[34:58] = struct.pack('<6f', *[rng.gauss(0, 0.3) for _ in range(3)], 0.1, 0.2, 9.81)
    data[78:84] = SENSORS
    return bytes(data)


def stream(rng, start):
    """Returns the bytes of 16 frames, of which about a third are mutated."""
    frames = [frame(rng, (start + n) * 1_000_000) for n in range(16)]
    return b''.join(mutation.mutated(rng, [each])[:2000] if rng.random() < 0.35 else each for each in frames)


def serve(rng, count, server, program):
    """Returns the number of frames that were sent, and the needs of the program after the first part."""
    delivered, first, deadline = 0, None, time.monotonic() + 120
    server.settimeout(1)
    while delivered < count and time.monotonic() < deadline and program.poll() is None:
        try:
            connection, _ = server.accept()
        except socket.timeout:
            continue
        with connection:
            connection.settimeout(5)
            for _ in range(rng.choice((1, 20, 100, 300))):
                data = stream(rng, delivered)
                if rng.random() < 0.01:
                    data = data[:rng.randrange(1, len(data))]
                try:
                    connection.sendall(data)
                except OSError:
                    break
                delivered += 16
                if rng.random() < 0.02:
                    time.sleep(rng.uniform(0, 0.3))
        if delivered >= 1000 and not first:
            first = needs(program)
    return delivered, first


def needs(program):
    found = resources(program.pid)
    return (found[0], found[2]) if found else (0, 0)


def main():
    end = sys.argv.index('--')
    seed, count = sys.argv[1:end]
    with tempfile.TemporaryDirectory() as folder, socket.socket() as server:
        set_up_network()
        set_up_device(folder)
        server.bind((ADDRESS, PORT))
        server.listen()
        if not sys.argv[end + 1:]:
            return
        program = subprocess.Popen(sys.argv[end + 1:], stdin=subprocess.DEVNULL)
        wait_until_handled(program, signal.SIGINT)
        delivered, first = serve(random.Random(int(seed)), int(count), server, program)
        time.sleep(1)
        last = needs(program)
        if program.poll() is None:
            program.send_signal(signal.SIGINT)
        try:
            program.wait(5)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()
        # An open connection is one descriptor that comes and goes.
        first = first or last
        print('torture: %d %d %d %d %d %d' % (
            program.returncode, delivered, first[0] + 1, last[0], first[1], last[1]), flush=True)


main()
