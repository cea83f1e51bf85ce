#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the input files of compare-builds to a folder.

usage: make_inputs.py DIRECTORY

The files are sounds, head motions, raw sensor samples, an HLS presentation and a SOFA file. All random
numbers come from one seed. Needs the program ffmpeg for the encoded sounds, and python3-h5py for the SOFA
file.
"""
import gzip
import os
import shutil
import struct
import subprocess
import sys

import numpy as np

RATE = 48000
SECONDS = 1.2
SEED = 24


def noise(random, channels, seconds=SECONDS, rate=RATE, level=0.1):
    """Returns noise bursts above a steady tone, different in every channel.

    The signal is quiet, so that a single rounding error stays below -140 dB. The sum of many
    channels is equally quiet."""
    time = np.arange(int(seconds * rate)) / rate
    rows = []
    for channel in range(channels):
        bursts = 0.2 + ((time * 3.7 + 0.31 * channel) % 1 < 0.3)
        tone = np.sin(2 * np.pi * (110 + 97 * channel) * time)
        rows.append(random.normal(size=len(time)) * 0.3 * bursts + 0.5 * tone)
    return np.array(rows) * level / max(1, np.sqrt(channels / 2))


def programme(random, seconds=SECONDS):
    """Returns stereo with a centre, one side and ambience, for the upmix."""
    centre, side, left, right = noise(random, 4, seconds)
    return np.array([centre + 0.8 * side + 0.4 * left, centre + 0.1 * side + 0.4 * right])


def scene(random):
    """Returns a first-order field of two plane waves and a little diffuse sound."""
    voices = noise(random, 2)
    field = 0.05 * noise(random, 4)
    for voice, (azimuth, elevation) in zip(voices, [(0.6, 0.1), (-2.0, 0.5)]):
        x, y = np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation)
        field += np.outer([1, y, np.sin(elevation), x], voice)
    return field


def write_wav(path, planes, rate=RATE, bits=32):
    samples = np.asarray(planes).T
    if bits == 16:
        data, code = np.round(samples * 32767).astype('<i2').tobytes(), 1
    else:
        data, code = samples.astype('<f4').tobytes(), 3
    frame = samples.shape[1] * bits // 8
    form = struct.pack('<HHIIHH', code, samples.shape[1], rate, rate * frame, frame, bits)
    body = b'WAVEfmt ' + struct.pack('<I', 16) + form + b'data' + struct.pack('<I', len(data)) + data
    with open(path, 'wb') as file:
        file.write(b'RIFF' + struct.pack('<I', len(body)) + body)


def write_motion(path):
    """Writes a head motion: yaw, pitch and roll oscillate at different rates."""
    lines = ['t,w,x,y,z']
    for time in np.arange(0, SECONDS, 0.01):
        yaw, pitch, roll = 1.2 * np.sin(5 * time), 0.4 * np.sin(3 * time + 1), 0.2 * np.cos(7 * time)
        (cy, sy), (cp, sp), (cr, sr) = [(np.cos(a / 2), np.sin(a / 2)) for a in (yaw, -pitch, roll)]
        lines.append(','.join('%.9f' % v for v in (
            time, cy * cp * cr + sy * sp * sr, cy * cp * sr - sy * sp * cr,
            cy * sp * cr + sy * cp * sr, sy * cp * cr - cy * sp * sr)))
    text = '\n'.join(lines) + '\n'
    with open(path, 'w') as file:
        file.write(text)
    with gzip.open(path + '.gz', 'wt') as file:
        file.write(text)


def write_sensor(path, random):
    """Writes raw samples of a noisy sensor that rests, turns and is shaken."""
    lines = ['t,gx,gy,gz,ax,ay,az,mx,my,mz']
    angle = 0.0
    for index in range(2000):
        time = index / 100
        rate = 0.0 if time < 4 else 0.5 * np.sin(0.7 * time)
        angle += rate / 100
        shake = 0.5 * np.sin(9 * time) if time > 12 else 0.0
        values = np.array([0, 0, rate, shake, 0, 9.81, 20 * np.sin(angle), 20 * np.cos(angle), -40])
        values += random.normal(size=9) * ([0.002] * 3 + [0.02] * 3 + [0.3] * 3)
        lines.append('%.2f,' % time + ','.join('%.6f' % v for v in values))
    with open(path, 'w') as file:
        file.write('\n'.join(lines) + '\n')


def ffmpeg(*arguments):
    subprocess.run(['ffmpeg', '-nostdin', '-v', 'error', '-y', *arguments], check=True)


def write_presentation(folder, random):
    """Writes 8 s of 5.1 as E-AC-3 in MPEG-TS, and its stereo fold-down as AAC in fragmented MP4."""
    six = noise(random, 6, 8)
    write_wav('six.wav', six)
    write_wav('two.wav', 0.7 * np.array([six[0] + six[2] + six[4], six[1] + six[2] + six[5]]))
    hls = ['-f', 'hls', '-hls_time', '1.92', '-hls_list_size', '0', '-hls_playlist_type', 'vod']
    os.makedirs(folder + '/six')
    os.makedirs(folder + '/two')
    ffmpeg('-channel_layout', '5.1', '-i', 'six.wav', '-c:a', 'eac3', '-b:a', '256k', *hls,
           '-hls_segment_filename', folder + '/six/s%02d.ts', folder + '/six/p.m3u8')
    ffmpeg('-i', 'two.wav', '-c:a', 'aac', '-b:a', '128k', *hls, '-hls_segment_type', 'fmp4',
           '-hls_segment_filename', folder + '/two/s%02d.m4s', folder + '/two/p.m3u8')
    with open(folder + '/master.m3u8', 'w') as file:
        file.write('''#EXTM3U
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="s",NAME="a",CHANNELS="6",URI="six/p.m3u8"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="t",NAME="a",CHANNELS="2",URI="two/p.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=280000,CODECS="ec-3",AUDIO="s"
six/p.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=140000,CODECS="mp4a.40.2",AUDIO="t"
two/p.m3u8
''')


def main(folder):
    fixtures = os.path.abspath(os.path.dirname(__file__) + '/../Fixtures')
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    random = np.random.default_rng(SEED)
    for channels in (3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 18, 25, 36, 49, 64):
        write_wav('ch%d.wav' % channels, noise(random, channels))
    write_wav('mono.wav', noise(random, 1))
    stereo = programme(random)
    write_wav('stereo.wav', stereo)
    write_wav('stereo16.wav', stereo, bits=16)
    write_wav('slow.wav', noise(random, 2, rate=22050), rate=22050)
    write_wav('scene.wav', scene(random))
    write_motion('head.csv')
    write_sensor('sensor.csv', random)
    write_wav('level.wav', noise(random, 6, level=0.3))
    ffmpeg('-channel_layout', '5.1', '-i', 'level.wav', '-c:a', 'eac3', '-b:a', '384k',
           '-dialnorm', '-20', 'level.eac3')
    write_presentation('presentation', random)
    shutil.copytree('presentation', 'damaged')
    os.unlink('damaged/six/s02.ts')
    subprocess.run([sys.executable, fixtures + '/make_sofa.py', '.', 'plain'], check=True)
    os.rename('plain.sofa', 'made.sofa')


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
