#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A virtual nvsonic head tracker on a terminal, such as that of a USB gadget: 50 quaternions a
second.

usage: virtual_nvsonic.py DEVICE FOLDER

FOLDER is that of virtual_head.py.
"""
import errno
import os
import sys
import termios
import time

from virtual_head import Head

device, folder = sys.argv[1:3]
port = os.open(device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
mode = termios.tcgetattr(port)
mode[0] = mode[1] = mode[3] = 0
mode[2] |= termios.CLOCAL | termios.CREAD
termios.tcsetattr(port, termios.TCSANOW, mode)

head = Head(folder)
while True:
    w, x, y, z = head.quaternion()
    # The sensor's axes point to the right, to the front and up.
    text = ','.join(f'{value:7.4f}' for value in (w, -y, x, z)).strip() + ';'
    try:
        os.write(port, text.encode())
    except OSError as error:
        # Nobody has opened the other end yet, or reads too slowly.
        if error.errno not in (errno.EAGAIN, errno.EIO):
            print(error, flush=True)
            break
    time.sleep(0.02)
