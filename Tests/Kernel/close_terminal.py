#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: close_terminal.py SECONDS PROGRAM [ARGUMENT...]

Runs a program from a shell in a terminal, and closes the terminal after that time, as a user closes
its window. The kernel then sends SIGHUP to the shell's session, and the shell to its jobs.
"""
import os
import pty
import sys
import time

child, terminal = pty.fork()
if child == 0:
    words = ' '.join("'%s'" % word for word in sys.argv[2:])
    os.execvp('bash', ['bash', '--norc', '-i', '-c', words + '; true'])
end = time.monotonic() + float(sys.argv[1])
os.set_blocking(terminal, False)
while time.monotonic() < end:
    try:
        os.read(terminal, 65536)
    except OSError:
        pass
    time.sleep(0.02)
os.close(terminal)
os.waitpid(child, 0)
