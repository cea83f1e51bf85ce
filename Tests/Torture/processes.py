# SPDX-License-Identifier: Apache-2.0
"""Programs under test: many runs of one command, and single processes with their resources."""
import os
import select
import signal
import struct
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MEMORY_MB = 2048
SECONDS = 60


class Result:
    def __init__(self, status, left, kilobytes, cpu, hung):
        self.code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        self.left, self.megabytes, self.cpu, self.hung = left, kilobytes / 1024, cpu / 1e6, hung


class ForkServer:
    """Runs one command in one folder any number of times; see fork_server.c."""

    def __init__(self, library, command, folder, environment):
        request, self.request = os.pipe()
        self.answer, answer = os.pipe()

        def prepare():
            # dup2 is safe: the descriptors of this program are all below 198.
            os.dup2(request, 198)
            os.dup2(answer, 199)
        self.process = subprocess.Popen(
            command, cwd=folder, env=dict(environment, LD_PRELOAD=library, LD_BIND_NOW='1'), preexec_fn=prepare,
            close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(request)
        os.close(answer)

    def read(self, size, seconds):
        if not select.select([self.answer], [], [], seconds)[0]:
            return None
        data = os.read(self.answer, size)
        if len(data) != size:
            raise RuntimeError('the fork server ended: %s' % self.process.args)
        return data

    def run(self, patience=None):
        """Runs the command. After `patience` seconds, sends SIGTERM; after the time limit, SIGKILL."""
        os.write(self.request, b'r')
        pid = struct.unpack('<i', self.read(4, 60))[0]
        answer, hung = None, None
        if patience is not None:
            answer = self.read(24, patience)
            if answer is None:
                # Before the program handles signals, SIGTERM simply ends it.
                hung = 'waiting' if handles(pid, signal.SIGTERM) else 'starting'
                terminate(pid, signal.SIGTERM)
        # The limit concerns the time that the program itself needs, so other load may stretch it.
        begin = time.monotonic()
        while answer is None:
            answer = self.read(24, 1)
            if answer is None and (cpu_seconds(pid) > SECONDS or time.monotonic() - begin > 4 * SECONDS):
                hung = 'killed'
                terminate(pid, signal.SIGKILL)
                answer = self.read(24, 10)
        return Result(*struct.unpack('<iiqq', answer), hung)

    def end(self):
        os.close(self.request)
        os.close(self.answer)
        self.process.kill()
        self.process.wait()


def handles(pid, number):
    """Returns whether a process catches or blocks a signal."""
    try:
        with open('/proc/%d/status' % pid) as f:
            masks = [int(each.split()[1], 16) for each in f if each.startswith(('SigCgt', 'SigBlk'))]
        return any(mask >> number - 1 & 1 for mask in masks)
    except OSError:
        return False


def wait_until_handled(process, number):
    """Waits until a `Popen` process handles a signal. On a busy computer its start may take minutes."""
    end = time.monotonic() + 5 * SECONDS
    while process.poll() is None and not handles(process.pid, number) and time.monotonic() < end:
        time.sleep(0.02)


def terminate(pid, number):
    """Sends a signal. The process may have ended already, before its result has arrived."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def cpu_seconds(pid):
    try:
        with open('/proc/%d/stat' % pid) as f:
            words = f.read().rsplit(')', 1)[1].split()
        return sum(int(each) for each in words[11:15]) / os.sysconf('SC_CLK_TCK')
    except OSError:
        return 0


def resources(pid):
    """Returns descriptors, threads and resident kilobytes of a process; None if it has ended."""
    try:
        descriptors = len(os.listdir('/proc/%d/fd' % pid))
        with open('/proc/%d/status' % pid) as f:
            lines = dict(each.split(':', 1) for each in f.read().splitlines() if ':' in each)
        return descriptors, int(lines['Threads']), int(lines['VmRSS'].split()[0])
    except (OSError, KeyError):
        return None


def children(pid):
    """Returns the process and its descendants, with the programs that they run."""
    found, parents = {}, {}
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open('/proc/%s/stat' % name) as f:
                    head, rest = f.read().rsplit(')', 1)
                parents[int(name)] = (int(rest.split()[1]), head.split('(', 1)[1])
            except OSError:
                pass
    queue = [pid]
    while queue:
        each = queue.pop()
        if each in parents:
            found[each] = parents[each][1]
            queue += [p for p, (parent, _) in parents.items() if parent == each]
    return found


def processes_with(mark):
    """Returns the processes whose environment contains `mark`, a text of bytes."""
    found = []
    for name in os.listdir('/proc'):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open('/proc/%s/environ' % name, 'rb') as f:
                    if mark in f.read():
                        found.append(int(name))
            except OSError:
                pass
    return found
