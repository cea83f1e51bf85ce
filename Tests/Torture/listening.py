# SPDX-License-Identifier: Apache-2.0
"""Kinds that play with key presses, seeks, and a tracker that comes and goes."""
import os
import pty
import random
import signal
import socket
import statistics
import subprocess
import termios
import time

import numpy

import files
import processes
from disturbances import Disturbance
from processes import resources

TRACKER = ['umockdev-wrapper', '/usr/bin/python3', files.ROOT + '/Calibration/virtual-tracker/virtual_tracker.py']


class Listening(Disturbance):
    """Plays for a minute a case. The samples of the sink are recorded and must be finite, and
    descriptors, threads and memory must not grow."""
    name, share, seconds = 'listening', 8, 60
    keys = [b' ', b' ', b'p', b'p', b'\x1b[C', b'\x1b[C', b'\x1b[D', b'\x1b[5~', b'\x1b[6~', b'\x1b[A', b'\x1b[B', b'm', b'm', b'c',
            b't', b'd', b'h', b'1', b'3', b'5', b'7', b'?', b'x', b'\x1b', b'Z', b'\xff']
    sound, start = 'in.wav', []

    def prepare(self):
        self.known = set(os.listdir(self.folder)) | {'out', 'err', 'home', 'designs', 'sound', 'control'}

    def run(self, number):
        """Plays once. Returns the number of key presses and changes of the tracker."""
        rng = random.Random('%s:%s:%d' % (self.seed, self.name, number))
        self.serve()
        control = self.folder + '/control'
        if os.path.exists(control):
            os.unlink(control)
        leader, follower = pty.openpty()
        settings = termios.tcgetattr(follower)
        recorder = self.record()
        words = ['play', self.sound, '--hrtf', 'plain.sofa', '--order', '3', '--output', 'pulse', '--tracker', 'SN-0001']
        process = self.launch(words, TRACKER + ['--quiet', '--control', control, '--'], stdin=follower)
        presses, changes, samples = self.play(rng, process, leader, control)
        reason, player = None, self.player(process.pid)
        if process.poll() is not None:
            reason = 'ended early with exit code %d' % process.returncode
        elif player:
            os.kill(player, signal.SIGINT)
        # `Signals` judges how soon a program ends. Here the computer may be busy.
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            reason = 'did not end within 60 s of SIGINT'
            for pid in processes.children(process.pid):
                os.kill(pid, signal.SIGKILL)
            process.wait()
        if recorder:
            recorder.terminate()
            recorder.wait()
        if not reason and process.returncode != 130:
            reason = 'exit code %d after SIGINT' % process.returncode
        if not reason and termios.tcgetattr(follower)[:4] != settings[:4]:
            reason = 'the settings of the terminal changed'
        os.close(leader)
        os.close(follower)
        if not reason and changes == 0:
            reason = 'the tracker could not be changed; this test is broken'
        growth = self.growth(samples)
        reason = reason or growth or (self.finite() if recorder else None)
        with open(self.folder + '/err', 'rb') as f:
            disturbed = b'libumockdev-preload: Failed' in f.read()
        reason = reason or self.messages(130)
        left = self.check_left()
        if disturbed:
            self.repeated += 1
            return 0
        reason = reason or left
        if reason:
            self.torture.fail(self, number, reason, words, self.folder)
        self.details = '%d keys, %d changes of the tracker, %s; %d cases ended by umockdev' % (
            presses, changes, self.figures, self.repeated)
        return presses + changes

    def play(self, rng, process, leader, control):
        """Presses keys and unplugs the tracker until the time is over or the program ends.

        Returns the numbers of both, and pairs of a time [s] and the resources at that time."""
        presses, changes, samples = 0, 0, []
        begin, plugged, player = time.monotonic(), True, None
        changed = begin
        while time.monotonic() < begin + self.seconds and process.poll() is None:
            time.sleep(rng.uniform(0.02, 0.5))
            if time.monotonic() < begin + 3:  # The program has to find the tracker first.
                continue
            os.write(leader, rng.choice(self.keys))
            presses += 1
            # The library of umockdev ends a program that opens a device while it is unplugged.
            if time.monotonic() > changed + 2.5 and rng.random() < 0.5:
                changed = time.monotonic()
                plugged = not plugged
                changes += self.command(control, 'plug' if plugged else 'unplug')
            player = player or self.player(process.pid)
            found = resources(player) if player and plugged else None
            if found:
                samples.append((time.monotonic() - begin, found))
        return presses, changes, samples

    def record(self):
        return subprocess.Popen(
            ['parec', '-d', 'ears.monitor', '--format=float32le', '--rate=48000', '--channels=2', '--raw'],
            env=self.environment(), stdout=open(self.folder + '/sound', 'wb'), stderr=subprocess.DEVNULL)

    def growth(self, samples):
        """Returns the reason if the second half of the samples needs more than the first half."""
        # Every decoder and order has been designed after a while.
        early = [each for at, each in samples if at < self.seconds / 2]
        late = [each for at, each in samples if at >= self.seconds / 2]
        if not early or not late:
            return 'no resources were measured'
        first, last = max(early), late[-1]
        self.figures = 'from %s to %s descriptors, threads, KB' % (first, last)
        grew = last[0] > first[0] + 1 or last[1] > first[1] + 1 or last[2] > first[2] + (24 << 10)
        return self.figures if grew else None

    figures, repeated = '', 0

    @staticmethod
    def player(pid):
        for each, name in processes.children(pid).items():
            if name.startswith('stillstage-engi'):
                return each
        return None

    @staticmethod
    def command(path, text):
        try:
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(5)
                s.connect(path)
                s.send(text.encode() + b'\n')
                s.recv(200)
            return 1
        except OSError:
            return 0

    def finite(self):
        size = os.path.getsize(self.folder + '/sound') // 4
        samples = numpy.fromfile(self.folder + '/sound', '<f4', size)
        if not numpy.isfinite(samples).all():
            return 'the recorded sound is not finite'
        return None if samples.any() else 'no sound was recorded'


class Endurance(Listening):
    """One program that plays for the whole time.

    After the first ten minutes memory may grow by 1 MB, and the usual numbers of descriptors and
    threads not at all. A run of less than 20 minutes is too short for that: memory may grow by 24 MB."""
    name, share, sound = 'endurance', 0, 'long.mka'
    settling = 600

    def prepare(self):
        # Three hours, because random seeks may pass the end of a shorter file.
        files.ffmpeg(self.folder, 'anoisesrc=r=48000:a=0.05:d=60', '-ac', '2', '-c:a', 'mp2', '-b:a', '64k', 'minute.mka')
        files.tool('ffmpeg', '-v', 'error', '-stream_loop', '179', '-i', 'minute.mka', '-c', 'copy', self.sound,
                   folder=self.folder)
        super().prepare()

    def record(self):
        return None

    def growth(self, samples):
        short = self.seconds < 2 * self.settling
        settling = self.seconds / 2 if short else self.settling
        early = [each for at, each in samples if at < settling]
        late = [each for at, each in samples if at >= settling]
        if not early or not late:
            return 'no resources were measured'
        with open(self.torture.keep + '/endurance.csv', 'w') as f:
            f.write('t,descriptors,threads,kilobytes\n')
            f.writelines('%.1f,%d,%d,%d\n' % ((at,) + each) for at, each in samples)
        first, last = ([max(column) for column in zip(*part)] for part in (early, late))
        # An early peak must not hide a later growth, so typical values are compared too.
        before, after = ([statistics.median(found[column] for at, found in samples if abs(at - middle) <= 60)
                          for column in range(3)] for middle in (settling, samples[-1][0] - 60))
        self.figures = 'at most %s descriptors, threads, KB in the first %.0f s and %s in the other %.0f s; medians %s ' \
            'and at the end %s' % (first, settling, last, self.seconds - settling, before, after)
        memory, usual = (24 << 10, 1) if short else (1 << 10, 0)
        # While the tracker returns, a few more descriptors and a thread are in use for a moment.
        peaks = any(b > a + more for a, b, more in zip(first, last, (3, 1, memory)))
        grew = peaks or any(b > a + more for a, b, more in zip(before, after, (usual, usual, memory)))
        return self.figures if grew else None


KINDS = [Listening, Endurance]
