#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: close_terminal.py TEXT PROGRAM [ARGUMENT...]

Runs a program from a shell in a terminal, and closes the terminal a second after the program has
printed TEXT, as a user closes its window. The kernel then sends SIGHUP to the shell's session, and
the shell to its jobs.
"""
import os
import pty
import sys
import time

child, terminal = pty.fork()
if child == 0:
    words = ' '.join("'%s'" % word for word in sys.argv[2:])
    os.execvp('bash', ['bash', '--norc', '-i', '-c', words + '; true'])
end, seen, is_seen = time.monotonic() + 60, b'', False
os.set_blocking(terminal, False)
while time.monotonic() < end:
    try:
        seen += os.read(terminal, 65536)
    except OSError:
        pass
    if not is_seen and sys.argv[1].encode() in seen:
        is_seen, end = True, time.monotonic() + 1
    time.sleep(0.02)
os.close(terminal)
os.waitpid(child, 0)
