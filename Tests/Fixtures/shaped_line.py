# SPDX-License-Identifier: Apache-2.0
"""An HTTP server on the loopback interface, behind a line whose rate changes.

usage: shaped_line.py FOLDER SECONDS:KBITS...

Prints its port. All requests share the line. The trace begins with the first request, and its last
rate stays.
"""
import http.server
import os
import sys
import threading
import time

FOLDER = sys.argv[1]
TRACE = [tuple(float(value) for value in part.split(":")) for part in sys.argv[2:]]
LOCK = threading.Lock()
START = []


def rate():
    """The present rate, in bytes/s."""
    elapsed = time.monotonic() - START[0]
    for seconds, kilobits in TRACE:
        if elapsed < seconds:
            break
        elapsed -= seconds
    return kilobits * 125


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        with LOCK:
            if not START:
                START.append(time.monotonic())
        path = os.path.join(FOLDER, self.path.partition("?")[0].lstrip("/"))
        try:
            with open(path, "rb") as file:
                content = file.read()
        except OSError:
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        sent = 0
        while sent < len(content):
            with LOCK:
                time.sleep(0.02)
                count = max(1, int(rate() * 0.02))
            self.wfile.write(content[sent : sent + count])
            sent += count


SERVER = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
SERVER.daemon_threads = True
print("port", SERVER.server_address[1], flush=True)
SERVER.serve_forever()
