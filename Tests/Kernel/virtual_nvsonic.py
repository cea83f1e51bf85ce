# SPDX-License-Identifier: Apache-2.0
"""Plays an nvsonic head tracker on a terminal, such as that of a USB gadget: 50 quaternions a
second of a head that turns 40 degrees to both sides.

usage: virtual_nvsonic.py DEVICE
"""

import errno
import math
import os
import sys
import termios
import time

port = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
mode = termios.tcgetattr(port)
mode[0] = mode[1] = mode[3] = 0
mode[2] |= termios.CLOCAL | termios.CREAD
termios.tcsetattr(port, termios.TCSANOW, mode)

begun = time.monotonic()
while True:
    now = time.monotonic() - begun
    half = math.radians(40) * math.sin(now) / 2
    # The sensor's z axis points up, so that turns of the head are about z.
    text = "".join(f"{value:7.4f}," for value in (math.cos(half), 0, 0, math.sin(half)))[:-1]
    try:
        os.write(port, (text.strip() + ";").encode())
    except OSError as error:
        # Nobody has opened the other end yet, or reads too slowly.
        if error.errno not in (errno.EAGAIN, errno.EIO):
            print(error, flush=True)
            break
    time.sleep(0.02)
