# SPDX-License-Identifier: Apache-2.0
"""Kinds of files: each case is one mutated file, which a real executable reads."""
import glob
import gzip
import json
import os
import random
import re
import shutil
import subprocess
import sys

import checks
import mutation
import processes
from processes import HERE, MEMORY_MB, ForkServer

ROOT = os.path.dirname(os.path.dirname(HERE))


class Command:
    """A command that reads the mutated file. `weight` is its share of the cases."""

    def __init__(self, weight, words, mutant, output=None, check=None, stdout=None, patience=None, settings=None):
        self.weight, self.words, self.mutant, self.output, self.check = weight, words, mutant, output, check
        self.stdout, self.patience, self.settings = stdout, patience, settings or {}


class FileKind:
    """Draws cases of one kind. Subclasses give `commands`, and the seeds for each mutated file."""
    name, text, tokens, share = '', False, (), 2

    def __init__(self, torture, seed):
        self.torture, self.seed, self.servers, self.count, self.failures = torture, seed, {}, 0, 0
        self.folder, self.starting = torture.folder(self.name), []
        self.prepare()
        self.commands = self.list_commands()
        for command in self.commands:
            command.seeds = self.seeds(command)

    def seeds(self, command):
        return self.contents

    def draw(self, rng, command):
        """Returns the content of the mutated file."""
        return mutation.mutated(rng, command.seeds, self.tokens, self.text)

    def place(self, index):
        """The folder in which a command runs; a copy of the common files for each."""
        place = '%s/%d' % (self.folder, index)
        if not os.path.isdir(place):
            shutil.copytree(self.folder + '/common', place)
            for name in ('home', 'tmp'):
                os.makedirs('%s/%s' % (place, name))
        return place

    def server(self, index):
        if index not in self.servers:
            place, command = self.place(index), self.commands[index]
            os.makedirs(os.path.dirname('%s/%s' % (place, command.mutant)), exist_ok=True)
            environment = dict(self.torture.environment, HOME=place + '/home', TMPDIR=place + '/tmp',
                               XDG_CACHE_HOME=place + '/home/cache', **command.settings)
            self.servers[index] = ForkServer(
                self.torture.library, [self.torture.program(command.words[0])] + command.words[1:], place, environment)
            with open('%s/%s' % (place, command.mutant), 'wb'):
                pass
            for name in ('out', 'err'):
                with open('%s/%s' % (place, name), 'wb'):
                    pass
            command.expected = self.listing(place)
        return self.servers[index]

    @staticmethod
    def listing(place):
        return sorted(os.path.join(folder, name)[len(place) + 1:] for folder, _, names in os.walk(place)
                      for name in names)

    def run(self, number):
        """Runs one case. Returns the number of inputs (1)."""
        rng = random.Random('%s:%s:%d' % (self.seed, self.name, number))
        index = rng.choices(range(len(self.commands)), [each.weight for each in self.commands])[0]
        command, server, place = self.commands[index], self.server(index), self.place(index)
        data = self.draw(rng, command)
        with open('%s/%s' % (place, command.mutant), 'wb') as f:
            f.write(data)
        result = server.run(command.patience)
        reason = self.judge(command, place, result)
        if reason:
            self.torture.fail(self, number, reason, command.words, place, data, command.mutant)
        for name in [command.output] if command.output else []:
            if os.path.exists(place + '/' + name):
                os.unlink(place + '/' + name)
        self.count += 1
        self.torture.note(self.name, result)
        return 1

    @property
    def details(self):
        return '%d ended before they handled signals, after at most %.3f s CPU' % (
            len(self.starting), max(self.starting)) if self.starting else ''

    def judge(self, command, place, result):
        errors = read(place + '/err')
        code = result.code
        if result.hung == 'killed':
            return 'no end within the time limit'
        if command.words[0] == 'stillstage-sofa' and code == -9 and result.cpu > 4:
            return None  # It ends itself after 5 s of processor time.
        if result.hung == 'starting' and code == -15:
            # Other load had kept the program from running.
            self.starting.append(result.cpu)
            return None if result.cpu < 0.1 else 'used %.2f s before it handled SIGTERM' % result.cpu
        if code < 0:
            return 'ended by signal %d' % -code
        if code not in (0, 1) and not (result.hung == 'waiting' and code == 143):
            return 'exit code %d' % code
        if result.left:
            return 'a process was left'
        if result.megabytes > MEMORY_MB:
            return 'needed %d MB' % result.megabytes
        if result.cpu > processes.SECONDS:
            return 'needed %.0f s' % result.cpu
        reason = checks.messages(errors, code) if command.words[0] != 'stillstage-sofa' else (
            'standard error is not empty' if errors else None)
        if not reason and command.output:
            reason = checks.output(place + '/' + command.output, code, command.check, errors)
        if not reason and command.stdout and (code == 0 or command.words[0] == 'stillstage-sofa'):
            reason = command.stdout(place + '/out')
        if not reason:
            extra = [each for each in self.listing(place) if each not in command.expected and each != command.output]
            if extra:
                reason = 'left %s' % ', '.join(extra)
                for each in extra:
                    os.unlink(place + '/' + each)
        return reason

    def end(self):
        for server in self.servers.values():
            server.end()


def tool(*words, folder='.'):
    subprocess.run(words, cwd=folder, check=True, stdin=subprocess.DEVNULL)


def ffmpeg(folder, *words):
    tool('ffmpeg', '-v', 'error', '-y', '-f', 'lavfi', '-i', *words, folder=folder)


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def make_tone(folder):
    ffmpeg(folder, 'sine=440:r=48000:d=0.05', '-ac', '2', '-c:a', 'pcm_f32le', 'tone.wav')


def make_sofa(folder, *names):
    tool(sys.executable, ROOT + '/Tests/Fixtures/make_sofa.py', folder, *names)


class Sofa(FileKind):
    name, share = 'sofa', 8

    def prepare(self):
        common = self.folder + '/common'
        os.makedirs(common)
        make_tone(common)
        made = self.folder + '/made'
        os.makedirs(made)
        names = ['plain', 'contiguous', 'cartesian-source', 'radians', 'turned-listener', 'delays-per-measurement',
                 'two-distances', 'no-shuffle', 'single-precision', 'latin1-text', 'samples-8', 'receivers-4']
        make_sofa(made, *names)
        self.contents = [read('%s/%s.sofa' % (made, name)) for name in names]

    def list_commands(self):
        return [
            Command(60, ['stillstage-sofa', 'in.sofa'], 'in.sofa', stdout=checks.sofa_answer),
            Command(30, ['stillstage-engine', 'hrtf', 'info', 'in.sofa', '--json'], 'in.sofa',
                    stdout=checks.finite_json),
            Command(6, ['stillstage-engine', 'render', 'tone.wav', '-o', 'out.wav', '--hrtf', 'in.sofa', '--order', '1'],
                    'in.sofa', 'out.wav', checks.finite_wav),
            Command(2, ['stillstage-engine', 'render', 'tone.wav', '-o', 'out.wav', '--hrtf', 'in.sofa', '--decoder',
                        'direct'], 'in.sofa', 'out.wav', checks.finite_wav),
            Command(2, ['stillstage-engine', 'hrtf', 'export', 'in.sofa', '-o', 'out.wav', '--order', '2'], 'in.sofa',
                    'out.wav', checks.finite_wav),
        ]


class Audio(FileKind):
    name, share = 'audio', 30
    # File name, channels, options of ffmpeg.
    FORMS = [
        ('in.wav', 2, ['-c:a', 'pcm_s16le']), ('f32.wav', 4, ['-c:a', 'pcm_f32le']), ('in.flac', 2, []),
        ('in.mp3', 2, []), ('in.ogg', 2, ['-c:a', 'libvorbis']), ('in.opus', 6, ['-c:a', 'libopus']),
        ('in.m4a', 2, ['-c:a', 'aac']), ('in.aac', 2, []), ('in.ac3', 6, []), ('in.eac3', 6, []),
        ('in.mka', 6, ['-c:a', 'flac']), ('in.caf', 4, ['-c:a', 'pcm_s24le']), ('in.mov', 4, ['-c:a', 'pcm_s24le']),
        ('alac.m4a', 2, ['-c:a', 'alac']), ('in.aiff', 2, []), ('in.ts', 2, ['-c:a', 'aac']), ('in.w64', 9, []),
    ]

    def prepare(self):
        common, made = self.folder + '/common', self.folder + '/made'
        os.makedirs(common)
        os.makedirs(made)
        make_sofa(common, 'plain')
        self.made = {}
        for name, channels, options in self.FORMS:
            try:
                layout = {2: 'stereo', 4: '4.0', 6: '5.1', 9: '9c'}[channels]
                ffmpeg(made, 'aevalsrc=%s:s=48000:d=0.06:c=%s' % (
                    '|'.join('0.1*sin(%d*t)' % (2000 + 900 * n) for n in range(channels)),
                    layout if channels != 9 else 'octagonal+LFE'), *options, name)
                self.made[name] = read(made + '/' + name)
            except subprocess.CalledProcessError:
                print('torture: ffmpeg cannot write %s; this form is left out' % name)

    def list_commands(self):
        commands = []
        for name in self.made:
            commands.append(Command(
                8, ['stillstage-engine', 'render', name, '-o', 'out.wav', '--to', 'stereo', '--hrtf', 'plain.sofa'],
                name, 'out.wav', checks.finite_wav))
        for name in self.made:
            commands.append(Command(
                1, ['stillstage-engine', 'render', name, '-o', 'out.wav', '--hrtf', 'plain.sofa', '--order', '1'], name,
                'out.wav', checks.finite_wav, settings={'STILLSTAGE_CACHE': self.folder + '/designs'}))
        return commands

    def seeds(self, command):
        return [self.made[command.mutant]]


class Playlist(FileKind):
    name, text, share = 'playlist', True, 34
    tokens = [each.encode() for each in (
        '#EXTM3U\n', '#EXT-X-ENDLIST\n', '#EXT-X-DISCONTINUITY\n', '#EXT-X-GAP\n', '#EXTINF:', '#EXT-X-BYTERANGE:',
        '#EXT-X-MAP:URI="init.mp4"\n', '#EXT-X-MAP:URI="init.mp4",BYTERANGE="10@5"\n', '../', '/', 'media0.m4s\n',
        '#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x1\n', '#EXT-X-MEDIA-SEQUENCE:', '#EXT-X-TARGETDURATION:',
        '#EXT-X-STREAM-INF:BANDWIDTH=1\n', 'CODECS="ec-3"', 'CHANNELS="16/JOC"', 'AUDIO="a"', '"', ',', '=', '\r\n',
        '#EXT-X-DEFINE:NAME="x",VALUE="y"\n', '{$x}', '#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n', '\xef\xbb\xbf', '%2e%2e/',
        'http://127.0.0.1:1/x', 'data:audio/aac,x', 'file:///etc/passwd')]

    def prepare(self):
        common = self.folder + '/common'
        os.makedirs(common)
        make_sofa(common, 'plain')
        form = ['-f', 'hls', '-hls_time', '0.2', '-hls_playlist_type', 'vod']
        sound = ['sine=440:r=48000:d=0.5', '-ac', '2', '-c:a', 'aac', '-b:a', '48k']
        ffmpeg(common, *sound, *form, '-hls_segment_type', 'fmp4', 'media.m3u8')
        ffmpeg(common, *sound, *form, 'ts.m3u8')
        with open(common + '/key', 'wb') as f:
            f.write(bytes(16))
        self.media = [read(common + '/media.m3u8'), read(common + '/ts.m3u8')]
        self.main = [read(each) for each in sorted(glob.glob(ROOT + '/Tests/Fuzz/playlists/*'))] + [
            b'#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="x",DEFAULT=YES,CHANNELS="2",URI="media.m3u8"\n'
            b'#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2",AUDIO="a"\nmedia.m3u8\n'
            b'#EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS="mp4a.40.2"\nts.m3u8\n']
        with open(common + '/main.m3u8', 'wb') as f:
            f.write(self.main[-1])

    def list_commands(self):
        words = ['stillstage-engine', 'render', 'main.m3u8', '-o', 'out.wav', '--to', 'stereo', '--timeout', '2',
                 '--hrtf', 'plain.sofa']
        listed = [Command(2, words, 'main.m3u8', 'out.wav', checks.finite_wav, patience=1),
                  Command(2, words, 'media.m3u8', 'out.wav', checks.finite_wav, patience=1),
                  Command(2, words[:2] + ['media.m3u8'] + words[3:], 'media.m3u8', 'out.wav', checks.finite_wav,
                          patience=1)]
        return listed

    def seeds(self, command):
        return self.main if command.mutant == 'main.m3u8' else self.media


class CSV(FileKind):
    name, text, share = 'csv', True, 16
    tokens = [b',', b'\n', b'\r\n', b'"', b'nan', b'inf', b'1e308', b't', b'w', b'gx', b'#', b'\xef\xbb\xbf', b' ', b'\0']

    def prepare(self):
        common = self.folder + '/common'
        os.makedirs(common)
        make_tone(common)
        make_sofa(common, 'plain')
        rng = random.Random(1)

        def table(names, rows):
            lines = [','.join(names)] + [','.join('%.6g' % each for each in row) for row in rows]
            return ('\n'.join(lines) + '\n').encode()
        raw = ['t', 'gx', 'gy', 'gz', 'ax', 'ay', 'az']
        self.raw = [table(raw, [[n / 100] + [rng.gauss(0, 0.3) for _ in range(3)] + [0, 0.1, 9.81] for n in range(60)]),
                    table(raw + ['mx', 'my', 'mz', 'w', 'x', 'y', 'z'],
                          [[n / 100, 0, 0, 0.1, 0, 0, 9.81, 20, 0, -40, 1, 0, 0, 0] for n in range(30)])]
        self.motion = [table(['t', 'w', 'x', 'y', 'z'], [[n / 10, 1, 0, 0, n / 10] for n in range(20)]),
                       table(['t', 'w', 'x', 'y', 'z'], [[0, 1, 0, 0, 0]])] + self.raw[1:]

    def list_commands(self):
        return [command for name in ('in.csv', 'in.csv.gz') for command in (
            Command(3, ['stillstage-engine', 'fuse', name, '-o', 'out.csv'], name, 'out.csv', checks.finite_text),
            Command(1, ['stillstage-engine', 'fuse', name, '-o', 'out.csv', '--mag'], name, 'out.csv',
                    checks.finite_text),
            Command(2, ['stillstage-engine', 'render', 'tone.wav', '-o', 'out.wav', '--to', 'foa', '--hrtf', 'plain.sofa',
                        '--motion', name], name, 'out.wav', checks.finite_wav))]

    def seeds(self, command):
        return self.raw if command.words[1] == 'fuse' else self.motion

    def draw(self, rng, command):
        data = super().draw(rng, command)
        if not command.mutant.endswith('.gz'):
            return data
        packed = gzip.compress(data, 1, mtime=0)
        return packed if rng.random() < 0.5 else mutation.mutated(rng, [packed])


class JSON(FileKind):
    """Settings, profiles of headphones and trackers, and records of kept presentations."""
    name, text, share = 'json', True, 28
    tokens = [b'{', b'}', b'[', b']', b':', b',', b'null', b'true', b'"', b'\\u0000', b'\\ud800', b'1e999', b'-1', b'{}',
              b'[' * 600, b'{"a":' * 600, b'"schema"', b'"name"', b'"filters"', b'"\\n"', b'\xff', b'/*', b'NaN']

    def prepare(self):
        common = self.folder + '/common'
        os.makedirs(common)
        make_tone(common)
        make_sofa(common, 'plain')
        data = common + '/data'
        shutil.copytree(ROOT + '/Calibration', data + '/Calibration',
                        ignore=shutil.ignore_patterns('virtual-tracker', '*.py'))
        os.makedirs(data + '/HRTF')
        text = ['{"order": 3, "gain": -3.5, "hrtf": "plain.sofa", "limiter": true, "pose": [0, 5, 0]}',
                '{"latency": 60, "tracker": "none", "upmix": "low-latency", "sink": {"layouts": "7.1"}}',
                '{"sinks": {"a": "headphones"}, "airpods": {}, "loudness": -16, "decoder": "ls"}']
        self.by_name = {
            'home/.config/stillstage/config.json': [each.encode() for each in text],
            'in.json': [read(each) for each in sorted(glob.glob(ROOT + '/Calibration/headphones/*.json'))],
            'in.txt': [read(each) for each in sorted(glob.glob(ROOT + '/Calibration/headphones/*.txt'))],
            'data/Calibration/trackers/example-raw.json': [
                read(each) for each in sorted(glob.glob(ROOT + '/Calibration/trackers/*.json'))],
            'kept/kept.json': [b'{"renditions":[{"folder":"audio","rendition":{"bitRate":0,"characteristics":[],'
                               b'"codecs":[],"isAutoselected":false,"isDefault":false,"name":"","resolution":[],'
                               b'"uri":"media.m3u8"}}],"source":"http://127.0.0.1/media.m3u8","version":1}'],
        }
        os.makedirs(common + '/kept/audio')
        ffmpeg(common + '/kept/audio', 'sine=440:r=48000:d=0.5', '-ac', '2', '-c:a', 'aac', '-f', 'hls', '-hls_time', '0.2',
               '-hls_segment_type', 'fmp4', '-hls_playlist_type', 'vod', 'playlist.m3u8')
        segments = [{'discontinuity': 0, 'duration': 0.2, 'number': n, 'origin': name, 'file': {
            'bytes': os.path.getsize('%s/kept/audio/%s' % (common, name)), 'name': name, 'sum': 1}} for n, name in enumerate(
                sorted(name for name in os.listdir(common + '/kept/audio') if name.endswith('.m4s')))]
        self.by_name['kept/audio/kept.json'] = [json.dumps({'segments': segments, 'version': 1}).encode()]
        with open(common + '/kept/master.m3u8', 'w') as f:
            f.write('#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2"\naudio/playlist.m3u8\n')
        for name in ('kept/kept.json', 'kept/audio/kept.json'):
            with open('%s/%s' % (common, name), 'wb') as f:
                f.write(self.by_name[name][0])

    def list_commands(self):
        engine, render = 'stillstage-engine', ['stillstage-engine', 'render', 'tone.wav', '-o', 'out.wav']
        folder = ['--hrtf', 'plain.sofa', '--order', '1', '--headphones']
        designs = {'STILLSTAGE_CACHE': self.folder + '/designs'}
        kept = [engine, 'render', 'kept', '-o', 'out.wav', '--to', 'stereo', '--timeout', '2', '--hrtf', 'plain.sofa']
        wav = checks.finite_wav
        return [
            Command(4, render + ['--to', 'stereo'], 'home/.config/stillstage/config.json', 'out.wav', wav),
            Command(3, render + folder + ['in.json'], 'in.json', 'out.wav', wav, settings=designs),
            Command(2, render + folder + ['in.txt'], 'in.txt', 'out.wav', wav, settings=designs),
            Command(3, [engine, 'trackers', '--json', '--data', 'data'], 'data/Calibration/trackers/example-raw.json',
                    stdout=checks.finite_json),
            Command(2, kept, 'kept/kept.json', 'out.wav', wav, patience=1),
            Command(2, kept, 'kept/audio/kept.json', 'out.wav', wav, patience=1),
        ]

    def seeds(self, command):
        return self.by_name[command.mutant]


class Config(FileKind):
    """Settings that are valid JSON, with values of wrong types and ranges."""
    name, share = 'config', 6
    # An option that names a new file is not a setting of this test.
    left_out = {'help', 'output', 'events', 'chart'}
    words = ['', 'on', 'off', 'auto', 'none', 'any', 'stereo', 'foa', 'binaural', '5.1', 'ls', 'magls', 'parametric', 'studio',
             'cinematic', 'fixed', 'speakers', 'headphones', 'living', 'plain.sofa', 'nowhere.sofa', '/dev/null', '/dev/zero',
             'osc:1:2:3', 'replay:', '1,2,3', '-1', '1e999', 'nan', '0x10', '\n', '\x1b[2J', '\0', '\u202e', '\U0001f600', 'x' * 5000]
    numbers = [0, 1, -1, 2, 3, 7, 8, 256, 0.5, -0.0, 1e-320, 1e300, 2**31, 2**63, -2**63 - 1, 10**400, 48000, 44100.5]
    known = {
        'sinks': {'ears': 'speakers'}, 'airpods': {'stem': 'recentre'},
        'midi': {'supperware': {'rate': 50, 'compass': 'off', 'cable': 'left', 'zero': True, 'shake': True},
                 'mrheadtracker': {'form': 'angles', 'inverse': True}},
        'sink': {'layouts': 'stereo', 'mode': 'fixed', 'order': 3}}

    def prepare(self):
        common = self.folder + '/common'
        os.makedirs(common)
        make_tone(common)
        make_sofa(common, 'plain')
        self.names = set()
        for command in ('play', 'render', 'sink'):
            run = subprocess.run([self.torture.program('stillstage'), command, '--help'], check=True, capture_output=True,
                                 text=True)
            self.names.update(re.findall(r'^  (?:-\w, )?--([\w-]+)', run.stdout, re.M))
        self.names = sorted(self.names - self.left_out)
        self.contents = []

    def list_commands(self):
        path, render = 'home/.config/stillstage/config.json', ['stillstage-engine', 'render', 'tone.wav', '-o', 'out.wav']
        designs = {'STILLSTAGE_CACHE': self.folder + '/designs'}
        return [
            Command(4, render + ['--to', 'stereo'], path, 'out.wav', checks.finite_wav, patience=5),
            Command(3, render + ['--hrtf', 'plain.sofa', '--order', '1'], path, 'out.wav', checks.finite_wav, patience=5,
                    settings=designs),
            Command(1, ['stillstage-engine', 'trackers', '--json'], path, stdout=checks.finite_json),
        ]

    def value(self, rng, depth=0):
        kind = rng.randrange(8)
        if kind < 2:
            return rng.choice(self.words)
        if kind < 4:
            return rng.choice(self.numbers)
        if kind == 4 or depth > 2:
            return rng.choice((None, True, False))
        if kind < 7:
            return [self.value(rng, depth + 1) for _ in range(rng.choice((0, 1, 3, 3, 5)))]
        return {rng.choice(self.names + self.words): self.value(rng, depth + 1) for _ in range(rng.randrange(3))}

    def changed(self, rng, tree):
        """Returns a copy of an object in which one value is replaced."""
        if not isinstance(tree, dict) or rng.random() < 0.2:
            return self.value(rng)
        name = rng.choice(sorted(tree))
        return dict(tree, **{name: self.changed(rng, tree[name])})

    def draw(self, rng, command):
        tree = {}
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            if rng.random() < 0.25:
                name = rng.choice(sorted(self.known))
                tree[name] = self.changed(rng, self.known[name])
            else:
                tree[rng.choice(self.names)] = self.value(rng)
        text = json.dumps(tree, ensure_ascii=rng.random() < 0.5)
        if rng.random() < 0.05:  # A name that occurs twice.
            text = text[:-1] + ', ' + text[1:]
        return text.encode('utf-8', 'surrogatepass')


class Tuning(FileKind):
    """Tunings of the Audio Mix: files, timed metadata of movies, and attachments of Matroska files."""
    name, text, share = 'tuning', True, 10
    tokens = JSON.tokens + [b'"version":', b'"speech":', b'"eq":', b'"gain_db":', b'"q":', b'"frequency":', b'"type":',
                            b'{"type":"peak","frequency":1000},' * 40]

    def prepare(self):
        common = self.folder + '/common'
        os.makedirs(common)
        make_sofa(common, 'plain')
        ffmpeg(common, 'anoisesrc=r=48000:a=0.05:d=0.4', '-af', 'pan=4c|c0=c0|c1=c0|c2=c0|c3=0.5*c0', '-c:a', 'pcm_f32le',
               'field.wav')
        text = ('{"version":1,"speech":{"gain_db":3.0,"eq":[{"type":"peak","frequency":1000.0,"gain_db":3.0,"q":0.7},'
                '{"type":"lowshelf","frequency":100.0,"gain_db":-3.0,"q":0.7}]},"ambience":{"gain_db":-3.0,"eq":[]}}')
        with open(common + '/in.json', 'w') as f:
            f.write(text)
        self.made = {'in.json': text.encode()}
        for name in ('in.mov', 'baked.mka'):
            tool(self.torture.program('stillstage-engine'), 'mix', 'bake', 'field.wav', '--layout', 'foa', '-o', name,
                 folder=common)
        tool('ffmpeg', '-v', 'error', '-i', 'baked.mka', '-map', '0:a', '-c', 'copy', '-attach', 'in.json', '-metadata:s:t',
             'mimetype=application/json', '-metadata:s:t', 'filename=in.json', 'in.mka', folder=common)
        for name in ('in.mov', 'in.mka'):
            self.made[name] = read(common + '/' + name)

    def list_commands(self):
        engine, designs = 'stillstage-engine', {'STILLSTAGE_CACHE': self.folder + '/designs'}
        render = [engine, 'render', 'field.wav', '--layout', 'foa', '-o', 'out.wav', '--to', 'foa', '--mix', 'studio']
        listed = [Command(3, render + ['--mix-tuning', 'in.json'], 'in.json', 'out.wav', checks.finite_wav),
                  Command(1, [engine, 'mix', 'process', 'field.wav', '--layout', 'foa', '-o', 'out.wav', '--to', 'binaural',
                              '--hrtf', 'plain.sofa', '--mix-tuning', 'in.json'], 'in.json', 'out.wav',
                          checks.finite_wav, settings=designs)]
        for name in ('in.mov', 'in.mka'):
            listed += [
                Command(4, [engine, 'render', name, '-o', 'out.wav', '--to', 'foa+speech', '--mix', 'cinematic'], name,
                        'out.wav', checks.finite_wav),
                Command(1, [engine, 'mix', 'bake', name, '-o', 'out' + name[2:]], name, 'out' + name[2:],
                        lambda path: None)]
        return listed

    def seeds(self, command):
        return [self.made[command.mutant]]

    def draw(self, rng, command):
        data = self.made[command.mutant]
        if command.mutant == 'in.json':
            return super().draw(rng, command)
        start = data.index(b'{"version"')
        end = data.index(b'}}', start) + 2
        if rng.random() < 0.5:
            # The sizes of the container stay valid.
            changed = mutation.mutated(rng, [data[start:end]], self.tokens, True)[:end - start]
            return data[:start] + changed.ljust(end - start) + data[end:]
        if rng.random() < 0.5:
            start, end = max(0, start - 200), end + 200
            return data[:start] + mutation.mutated(rng, [data[start:end]]) + data[end:]
        return mutation.mutated(rng, [data])


KINDS = [Sofa, Audio, Playlist, CSV, JSON, Config, Tuning]
