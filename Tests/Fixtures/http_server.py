# SPDX-License-Identifier: Apache-2.0
"""An HTTP server on the loopback interface. The path of a request selects the answer.

usage: http_server.py [FOLDER]

Prints its port.

/body/N       sends N bytes; supports ranges and validators /plain/N    the same without ranges
/status/CODE  answers with that status                      /to?URL     redirects to URL
/loop         redirects to itself                           /short/N    announces N bytes, sends half
/silent/N     sends half of N bytes, then nothing           /hang       never answers
/slow/N       sends N bytes, a tenth every 0.1 s            /endless    has no length, never ends
/trickle/N    sends N bytes every 0.2 s, for 30 s
/late/N       sends the headers, and N bytes 0.5 s later
/reset        resets the connection after the headers       /log        sends the list of requests
/in/NAME      sends the file NAME in FOLDER, or NAME.delta if the query has _HLS_skip; the file "delay" in FOLDER contains the number of
              seconds to wait first
"""
import http.server
import os
import socket
import struct
import sys
import time

LOG = []


def body(count):
    return bytes(i * 7 % 251 for i in range(count))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, code, content=b"", length=None, **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        word, _, number = path[1:].partition("/")
        count = int(number) if number.isdigit() else 0
        LOG.append(self.path)
        if word == "body" or word == "plain":
            self.whole(count, word == "body")
        elif word == "status":
            self.answer(count, b"no", Retry_After="3")
        elif word == "to":
            self.answer(302, Location=query)
        elif word == "loop":
            self.answer(302, Location="/loop")
        elif word == "short":
            self.answer(200, body(count // 2), length=count)
            self.close_connection = True
        elif word == "silent":
            self.answer(200, body(count // 2), length=count)
            time.sleep(30)
        elif word == "hang":
            time.sleep(30)
        elif word == "slow":
            self.answer(200, length=count)
            for i in range(10):
                self.wfile.write(body(count)[i * count // 10:(i + 1) * count // 10])
                self.wfile.flush()
                time.sleep(0.1)
        elif word == "trickle":
            self.answer(200, length=1_000_000)
            for i in range(150):
                self.wfile.write(bytes(count))
                self.wfile.flush()
                time.sleep(0.2)
        elif word == "late":
            self.answer(200, length=count)
            time.sleep(0.5)
            self.wfile.write(body(count))
        elif word == "endless":
            self.send_response(200)
            self.send_header("Connection", "close")
            self.end_headers()
            while True:
                self.wfile.write(bytes(65536))
                time.sleep(0.001)
        elif word == "reset":
            self.answer(200, length=1000)
            self.connection.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            for end in (self.rfile, self.wfile, self.connection):
                end.close()
        elif word == "in":
            self.file(number + (".delta" if "_HLS_skip" in query else ""))
        elif word == "log":
            self.answer(200, "\n".join(LOG).encode())
        else:
            self.answer(404)

    def file(self, name):
        delay = os.path.join(sys.argv[1], "delay")
        if os.path.isfile(delay):
            with open(delay) as seconds:
                time.sleep(float(seconds.read()))
        path = os.path.join(sys.argv[1], os.path.basename(name))
        if not os.path.isfile(path):
            self.answer(404)
            return
        with open(path, "rb") as content:
            self.answer(200, content.read())

    def whole(self, count, knows_ranges):
        content = body(count)
        if self.headers.get("If-None-Match") == '"tag"':
            self.answer(304, ETag='"tag"')
            return
        wanted = self.headers.get("Range")
        if not wanted or not knows_ranges:
            self.answer(200, content, ETag='"tag"', Last_Modified="Sat, 21 Nov 2026 12:00:00 GMT")
            return
        first, last = (int(part) for part in wanted[len("bytes="):].split("-"))
        if first >= count:
            self.answer(416)
            return
        part = content[first:last + 1]
        self.answer(206, part, Content_Range=f"bytes {first}-{first + len(part) - 1}/{count}")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
