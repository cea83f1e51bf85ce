# SPDX-License-Identifier: Apache-2.0
"""Kinds of disturbances: signals and broken sound servers."""
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

import checks
import files
import processes
from processes import HERE, resources

sys.path.insert(1, HERE + '/../Compare')
import private_servers  # noqa: E402


class Disturbance:
    name, share = '', 4

    def __init__(self, torture, seed):
        self.torture, self.seed, self.failures, self.details = torture, seed, 0, ''
        self.folder = torture.folder(self.name)
        os.makedirs(self.folder + '/server')
        os.environ['TORTURE_RUN'] = torture.scratch
        self.server = None
        files.ffmpeg(self.folder, 'anoisesrc=r=48000:a=0.05:d=600', '-ac', '2', '-c:a', 'pcm_s16le', 'in.wav')
        files.make_sofa(self.folder, 'plain')
        self.prepare()

    def prepare(self):
        pass

    def serve(self):
        """Starts a private server with a sink, unless it runs."""
        if self.server is None or self.server.servers[0].poll() is not None:
            if self.server:
                self.server.end()
            for name in ('native', 'pid'):
                if os.path.exists('%s/server/pulse/%s' % (self.folder, name)):
                    os.unlink('%s/server/pulse/%s' % (self.folder, name))
            self.server = private_servers.PrivateServer(
                self.folder + '/server', 'pulse', ['-L', 'module-null-sink sink_name=ears rate=48000'])

    def environment(self):
        settings = dict(self.torture.environment, HOME=self.folder + '/home', XDG_RUNTIME_DIR=self.folder + '/home/run',
                        STILLSTAGE_CACHE=self.folder + '/designs', TMPDIR=self.folder + '/home/tmp')
        if self.server:
            settings['PULSE_SERVER'] = self.server.address
        for name in ('run', 'tmp'):
            os.makedirs('%s/home/%s' % (self.folder, name), mode=0o700, exist_ok=True)
        return settings

    def launch(self, words, wrapper=(), stdin=subprocess.DEVNULL, hurry=None):
        self.out, self.err = open(self.folder + '/out', 'wb'), open(self.folder + '/err', 'wb')

        def prepare():
            # The program would inherit that nohup ignores SIGHUP, and would rightly ignore it too.
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            if hurry:
                hurry()
        process = subprocess.Popen(
            list(wrapper) + [self.torture.program('stillstage-engine')] + words, cwd=self.folder, start_new_session=True,
            env=self.environment(), stdin=stdin, stdout=self.out, stderr=self.err, preexec_fn=prepare)
        self.out.close()
        self.err.close()
        return process

    def messages(self, code):
        with open(self.folder + '/err', 'rb') as f:
            return checks.messages(f.read(), code)

    def check_left(self, allowed=()):
        """Returns the reason if temporary files or processes of the program are left."""
        time.sleep(0.05)
        for each in os.listdir(self.folder + '/home/tmp'):
            path = '%s/home/tmp/%s' % (self.folder, each)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
            if not each.startswith('umockdev.'):
                return 'left the temporary file ' + each
        names = [each for each in os.listdir(self.folder) if each not in self.known and each not in allowed]
        for each in names:
            path = self.folder + '/' + each
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        if names:
            return 'left %s' % ', '.join(names)
        own = ('HOME=%s/home\0' % self.folder).encode()
        for _ in range(20):
            left = processes.processes_with(own)
            if not left:
                return None
            time.sleep(0.1)
        programs = [processes.children(pid).get(pid, '') for pid in left]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return 'left the processes %s' % ', '.join(programs)

    def end(self):
        if self.server:
            self.server.end()


# The outputs of the commands that `Signals` interrupts, with their checks.
OUTPUTS = {'o.wav': checks.finite_wav, 'o.csv': checks.finite_text, 'o.json': checks.finite_json,
           'o.mka': checks.complete_sound}


class Signals(Disturbance):
    """A signal at a random moment of a random command ends it within its limit."""
    name, limit, recording_limit = 'signals', 0.5, 1.0

    def prepare(self):
        self.serve()
        engine_only = ['--hrtf', 'plain.sofa']
        files.ffmpeg(self.folder, 'anoisesrc=r=48000:a=0.05:d=200', '-af', 'pan=4c|c0=c0|c1=c0|c2=c0|c3=c0', '-c:a',
                     'pcm_s16le', 'field.wav')
        # A server that accepts connections and never answers.
        self.silent, self.accepted = socket.create_server(('127.0.0.1', 0)), []
        self.silent.setblocking(False)
        silent = 'http://127.0.0.1:%d/x.m3u8' % self.silent.getsockname()[1]
        field = ['field.wav', '--layout', 'foa']
        with open(self.folder + '/long.csv', 'w') as f:
            f.write('t,gx,gy,gz,ax,ay,az\n')
            f.writelines('%.3f,0.1,0,0,0,0,9.81\n' % (n / 200) for n in range(600000))
        self.words = [
            ['render', 'in.wav', '-o', 'o.wav'] + engine_only, ['render', 'in.wav', '-o', 'o.wav', '--loudness', '-20'],
            ['render', 'in.wav', '-o', 'o.wav', '--order', '7', '--decoder', 'magls-cov'], ['hrtf', 'info', 'plain.sofa'],
            ['hrtf', 'export', 'plain.sofa', '-o', 'o.wav', '--order', '7'], ['fuse', 'long.csv', '-o', 'o.csv'],
            ['demo', '-o', 'o.wav'], ['play', 'in.wav', '--tracker', 'none'] + engine_only,
            ['play', 'in.wav', '--tracker', 'osc:0.PORT'.replace('0.PORT', '39471')], ['trackers'],
            ['trackers', 'watch', 'opentrack:39472'], ['inputs', 'watch', '--monitors'], ['routes'], ['sink'],
            ['record', '-o', 'o.wav', '--input', 'ears.monitor', '--overwrite'],
            ['fetch', 'http://127.0.0.1:9/x.m3u8', '-o', 'kept', '--timeout', '5'],
            ['fetch', silent, '-o', 'kept'], ['play', silent], ['render', silent, '-o', 'o.wav'],
            ['mix', 'analyse'] + field + ['-o', 'o.json'], ['mix', 'bake'] + field + ['-o', 'o.mka'],
            ['mix', 'process'] + field + ['-o', 'o.wav', '--to', '5.1'],
            ['listen', '--input', 'ears.monitor', '--listen', 'on'],
            ['trackers', 'bridge', 'osc:39473', 'osc://127.0.0.1:39474'],
        ]
        self.known = set(os.listdir(self.folder)) | {'out', 'err', 'home', 'designs', 'o.svg'}
        self.late = []

    def accept(self):
        """Accepts the connections to the silent server, so that its queue never fills."""
        self.accepted = []
        while True:
            try:
                self.accepted.append(self.silent.accept())
            except BlockingIOError:
                return

    @staticmethod
    def hurry():
        """Raises the priority of a process, if the user may do so."""
        try:
            os.setpriority(os.PRIO_PROCESS, 0, -15)
        except PermissionError:
            pass

    def attempt(self, number, hurry=None):
        rng = random.Random('%s:%s:%d' % (self.seed, self.name, number))
        words = rng.choice(self.words)
        chosen = rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
        wait = rng.choice([rng.uniform(0.12, 0.4), rng.uniform(0.12, 2.5)])
        self.serve()
        process = self.launch(words, hurry=hurry)
        limit = self.recording_limit if words[0] == 'record' else self.limit
        try:
            process.wait(wait)
        except subprocess.TimeoutExpired:
            pass
        # Before the program has installed its handlers, a signal simply ends it.
        ended = process.poll() is not None
        ready = not ended and processes.handles(process.pid, chosen)
        begin = time.monotonic()
        if not ended:
            os.kill(process.pid, chosen)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return words, 'no end within 30 s of signal %d' % chosen
        delay, code, reason = time.monotonic() - begin, process.returncode, None
        if not ended:
            if delay > limit:
                reason = 'the end took %.2f s after signal %d' % (delay, chosen)
            elif ready and code not in (128 + chosen, 0, 1):
                reason = 'exit code %d after signal %d' % (code, chosen)
            else:
                reason = None if code < 0 else self.messages(code)
        for name, check in OUTPUTS.items():
            path = self.folder + '/' + name
            if os.path.exists(path):
                # A file that was finished before the signal may stay.
                if not reason and code != 0 and words[0] != 'record':
                    reason = check(path)
                os.unlink(path)
        self.accept()
        return words, reason or self.check_left(('kept',) if words[0] == 'fetch' else ())

    def run(self, number):
        words, reason = self.attempt(number)
        # Other load may delay an end. Only a limit that is missed three times counts, twice of these
        # at a higher priority.
        for _ in range(2):
            if not reason or 'the end took' not in reason:
                break
            self.late.append(reason)
            words, reason = self.attempt(number, self.hurry)
        if reason:
            self.torture.fail(self, number, '%s: %s' % (' '.join(words[:2]), reason), words, self.folder)
        self.details = '%d late ends repeated' % len(self.late)
        return 1


class Servers(Disturbance):
    """Breaks the sound server while a program plays, and checks that the program survives and ends."""
    name = 'servers'

    def prepare(self):
        self.known = set(os.listdir(self.folder)) | {'out', 'err', 'home', 'designs'}

    def run(self, number):
        rng = random.Random('%s:%s:%d' % (self.seed, self.name, number))
        self.serve()
        words = ['play', 'in.wav', '--tracker', 'none', '--hrtf', 'plain.sofa', '--order', '1', '--output', 'pulse']
        process, actions, reason = self.launch(words), [], None
        time.sleep(rng.uniform(0.1, 2))
        before, count = resources(process.pid), rng.randrange(1, 5)
        for _ in range(count):
            action = rng.choice(('kill', 'freeze', 'remove', 'suspend', 'terminate', 'move'))
            actions.append(action)
            self.disturb(action, rng)
            self.serve()
            time.sleep(rng.uniform(0.2, 3))
            if process.poll() is not None and process.returncode != 1:
                reason = 'exit code %d after %s' % (process.returncode, ', '.join(actions))
                break
        after = resources(process.pid) if process.poll() is None else None
        # A program that has only one thread has not begun to play.
        if before and before[1] > 2 and after and (after[0] > before[0] + 16 or after[2] > before[2] + (32 << 10)):
            reason = 'from %s to %s descriptors, threads, KB after %s' % (before, after, ', '.join(actions))
        ready = False
        if process.poll() is None:
            ready = processes.handles(process.pid, signal.SIGINT)
            process.send_signal(signal.SIGINT)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            reason = 'did not end within 5 s of SIGINT after ' + ', '.join(actions)
            process.kill()
            process.wait()
        # Before the program handles signals, SIGINT simply ends it.
        if not reason and process.returncode not in ((1, 130) if ready else (1, 130, -signal.SIGINT)):
            reason = 'exit code %d after SIGINT, after %s' % (process.returncode, ', '.join(actions))
        reason = reason or self.messages(process.returncode) or self.check_left()
        if reason:
            self.torture.fail(self, number, reason, words, self.folder)
        return count

    def disturb(self, action, rng):
        server = self.server.servers[0]
        if action == 'kill':
            server.kill()
            server.wait()
            time.sleep(rng.uniform(0, 1.5))
        elif action == 'terminate':
            server.terminate()
            server.wait()
        elif action == 'freeze':
            server.send_signal(signal.SIGSTOP)
            time.sleep(rng.uniform(0.1, 2))
            server.send_signal(signal.SIGCONT)
        elif action == 'remove':
            self.server.pactl('unload-module', 'module-null-sink', check=False)
            time.sleep(rng.uniform(0, 1))
            self.server.pactl('load-module', 'module-null-sink', 'sink_name=ears', check=False)
        elif action == 'suspend':
            self.server.pactl('suspend-sink', 'ears', '1', check=False)
            time.sleep(rng.uniform(0, 1))
            self.server.pactl('suspend-sink', 'ears', '0', check=False)
        else:
            self.server.pactl('load-module', 'module-null-sink', 'sink_name=other', check=False)
            self.server.pactl('move-sink-input', '0', 'other', check=False)


class MediaKeys(Disturbance):
    """Random calls of the media player interface (MPRIS) during a recording.

    The bus itself refuses messages that are not valid D-Bus, so the calls are valid messages with
    unexpected names, types and values."""
    name, share, count = 'mpris', 2, 500
    root, path = 'org.mpris.MediaPlayer2', '/org/mpris/MediaPlayer2'
    interfaces = [root, root + '.Player', root + '.Player', root + '.Player', 'org.freedesktop.DBus.Properties',
                  'org.freedesktop.DBus.Properties', 'org.freedesktop.DBus.Introspectable', 'org.freedesktop.DBus.Peer',
                  root + '.TrackList', 'a.b']
    methods = ['Play', 'Pause', 'PlayPause', 'Next', 'Previous', 'Seek', 'SetPosition', 'OpenUri', 'Raise', 'Quit', 'Get', 'Get',
               'GetAll', 'Set', 'Introspect', 'Ping', 'GetMachineId', 'x']
    texts = ['', root, root + '.Player', 'PlaybackStatus', 'Volume', 'Metadata', 'Rate', 'CanPlay', 'CanQuit', 'Nothing', '\n',
             '\x1b[2J', '\U0001f600', 'x' * 60000, 'file:///etc/passwd', '%s%n']

    def prepare(self):
        import gi
        gi.require_version('Gio', '2.0')
        from gi.repository import Gio, GLib
        self.gio, self.glib = Gio, GLib
        with open(self.folder + '/bus.conf', 'w') as f:
            f.write('<busconfig><type>session</type><listen>unix:path=%s/bus</listen><policy context="default">'
                    '<allow user="*"/><allow own="*"/><allow send_destination="*"/><allow eavesdrop="true"/></policy></busconfig>' % self.folder)
        self.bus = subprocess.Popen(
            ['dbus-daemon', '--config-file=%s/bus.conf' % self.folder, '--nofork', '--nopidfile'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            if os.path.exists(self.folder + '/bus'):
                break
            time.sleep(0.05)
        flags = Gio.DBusConnectionFlags
        self.connection = Gio.DBusConnection.new_for_address_sync(
            'unix:path=%s/bus' % self.folder, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)
        self.known = set(os.listdir(self.folder)) | {'out', 'err', 'home', 'designs'}

    def environment(self):
        return dict(super().environment(), DBUS_SESSION_BUS_ADDRESS='unix:path=%s/bus' % self.folder)

    def value(self, rng, depth=0):
        """Returns a random variant."""
        form = rng.choice('sssbiudxoagv' if depth < 3 else 's')
        if form in 'biudx':
            value = {'b': rng.random() < 0.5, 'd': rng.choice((0.0, -1.0, 1e308, float('nan'), float('inf')))}.get(
                form, rng.choice((0, 1)) if form == 'u' else rng.choice((0, 1, -1, 2**31 - 1, -2**31)))
            return self.glib.Variant(form, value)
        if form == 'o':
            return self.glib.Variant('o', rng.choice(('/', self.path, '/a/b')))
        if form == 'a':
            return self.glib.Variant('as', [rng.choice(self.texts) for _ in range(rng.randrange(5))])
        if form == 'g':
            return self.glib.Variant('g', rng.choice(('', 's', 'a{sv}', 'v' * 255)))
        if form == 'v':
            return self.glib.Variant('v', self.value(rng, depth + 1))
        return self.glib.Variant('s', rng.choice(self.texts))

    def call(self, rng, name):
        """Makes one random call. Returns the reason for a failure."""
        path = rng.choice((self.path,) * 8 + ('/', '/org'))
        arguments = self.glib.Variant.new_tuple(*[self.value(rng) for _ in range(rng.choice((0, 0, 1, 2, 2, 3)))])
        interface, method = rng.choice(self.interfaces), rng.choice(self.methods)
        try:
            self.connection.call_sync(name, path, interface, method, arguments, None, self.gio.DBusCallFlags.NONE, 5000, None)
        except self.glib.Error as error:
            if error.matches(self.gio.io_error_quark(), self.gio.IOErrorEnum.TIMED_OUT):
                return 'no answer to %s.%s within 5 s' % (interface, method)
            # A method with wrong arguments may be refused, but must be answered by the program.
            if 'ServiceUnknown' in error.message or 'NoReply' in error.message:
                return '%s.%s: %s' % (interface, method, error.message)
        return None

    def owned(self, name):
        answer = self.connection.call_sync(
            'org.freedesktop.DBus', '/', 'org.freedesktop.DBus', 'NameHasOwner', self.glib.Variant('(s)', (name,)), None,
            self.gio.DBusCallFlags.NONE, 5000, None)
        return answer.unpack()[0]

    def has_sound(self):
        """Whether the recording contains more than a header."""
        path = self.folder + '/o.wav'
        return os.path.exists(path) and os.path.getsize(path) > 4096

    def run(self, number):
        rng = random.Random('%s:%s:%d' % (self.seed, self.name, number))
        self.serve()
        words = ['record', '-o', 'o.wav', '--input', 'ears.monitor', '--overwrite']
        process = self.launch(words)
        name, made, reason = '%s.stillstage.instance%d' % (self.root, process.pid), 0, None
        end = time.monotonic() + processes.SECONDS
        while process.poll() is None and not self.owned(name):
            if time.monotonic() > end:
                reason = 'does not appear on the bus'
                break
            time.sleep(0.05)
        # On a busy computer, the name appears long before the recorder has all of its threads.
        while not reason and process.poll() is None and not self.has_sound():
            if time.monotonic() > end:
                reason = 'does not record'
            time.sleep(0.05)
        before = None
        while not reason and made < self.count and process.poll() is None:
            reason = self.call(rng, name)
            made += 1
            if made == self.count // 4:
                before = resources(process.pid)
        after = resources(process.pid)
        if not reason and before and after and (
                after[0] > before[0] + 2 or after[1] > before[1] + 2 or after[2] > before[2] + (8 << 10)):
            reason = 'from %s to %s descriptors, threads, KB' % (before, after)
        if not reason and process.poll() is not None:
            reason = 'ended early with exit code %d' % process.returncode
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            reason = reason or 'did not end within 30 s of SIGINT'
            process.kill()
            process.wait()
        if not reason and process.returncode != 130:
            reason = 'exit code %d after SIGINT' % process.returncode
        if not reason and os.path.exists(self.folder + '/o.wav'):
            reason = checks.finite_wav(self.folder + '/o.wav')
        reason = reason or self.messages(process.returncode) or self.check_left(('o.wav',))
        if os.path.exists(self.folder + '/o.wav'):
            os.unlink(self.folder + '/o.wav')
        if reason:
            self.torture.fail(self, number, reason, words, self.folder)
        return made

    def end(self):
        self.bus.terminate()
        self.bus.wait()
        super().end()


KINDS = [Signals, Servers, MediaKeys]
