#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a small SOFA file for each defect and each valid variant to a directory.

usage: make_sofa.py DIRECTORY [NAME ...]      writes the named files, or all but large ones
       make_sofa.py list                      prints the names

The valid set has 62 directions, on five rings and the poles, at 1.5 m, 48 kHz and 64 samples. The response
of an ear is one impulse of 10^(9 s / 20) at sample 20 - 8 s, rounded, where s is the sine of the angle
towards that ear.
"""
import os
import sys

import h5py
import numpy as np

RATE, TAPS, RADIUS = 48000.0, 64, 1.5


def directions():
    grid = [(0, -90), (0, 90)]
    for elevation in (-60, -30, 0, 30, 60):
        grid += [(azimuth, elevation) for azimuth in range(0, 360, 30)]
    return np.array(grid, float)


def good():
    """The parts of a good file; a case changes some of them."""
    angles = directions()
    source = np.column_stack([angles, np.full(len(angles), RADIUS)])
    side = np.sin(np.radians(angles[:, 0])) * np.cos(np.radians(angles[:, 1]))
    ir = np.zeros((len(angles), 2, TAPS))
    for m, s in enumerate(side):
        for ear, towards in enumerate((s, -s)):
            ir[m, ear, int(round(20 - 8 * towards))] = 10 ** (9 * towards / 20)
    return {
        'ir': ir, 'rate': np.array([RATE]), 'delay': np.zeros((1, 2)), 'source': source,
        'receiver': np.array([[[0.0], [0.09], [0.0]], [[0.0], [-0.09], [0.0]]]),
        'listener': np.zeros((1, 3)), 'view': np.array([[1.0, 0, 0]]), 'up': np.array([[0.0, 0, 1]]),
        'types': {'source': ('spherical', 'degree, degree, metre'), 'listener': ('cartesian', 'metre'),
                  'view': ('cartesian', 'metre'), 'receiver': ('cartesian', 'metre')},
        'attributes': {'Conventions': 'SOFA', 'SOFAConventions': 'SimpleFreeFieldHRIR', 'DataType': 'FIR',
                       'Title': 'Test head', 'DatabaseName': 'Stillstage', 'ListenerShortName': 'made',
                       'License': 'Apache-2.0', 'Organization': 'Tests'},
        'dimensions': {}, 'storage': {'compression': 'gzip', 'shuffle': True},
    }


def cartesian(angles, radius):
    a, e = np.radians(angles[:, 0]), np.radians(angles[:, 1])
    return radius * np.column_stack([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])


CASES = {}
LARGE = ('measurements-most',)


def case(function):
    CASES[function.__name__.replace('_', '-')] = function
    return function


@case
def plain(p): pass


@case
def contiguous(p): p['storage'] = {}


@case
def cartesian_source(p):
    p['source'] = cartesian(p['source'], RADIUS)
    p['types']['source'] = ('cartesian', 'metre')


@case
def radians(p):
    p['source'] = np.column_stack([np.radians(p['source'][:, :2]), p['source'][:, 2]])
    p['types']['source'] = ('spherical', 'radian, radian, metre')


@case
def turned_listener(p):
    """The listener looks along +y and stands at (1, 2, 0); sources are where they are for him."""
    head = cartesian(p['source'], RADIUS)
    p['source'] = np.column_stack([-head[:, 1], head[:, 0], head[:, 2]]) + [1, 2, 0]
    p['types']['source'] = ('cartesian', 'metre')
    p['listener'] = np.array([[1.0, 2, 0]])
    p['view'] = np.array([[0.0, 1, 0]])


@case
def spherical_view(p):
    p['view'] = np.array([[0.0, 0, 1]])
    p['up'] = np.array([[0.0, 90, 1]])
    p['types']['view'] = ('spherical', 'degree, degree, metre')


@case
def views_per_measurement(p):
    """The views of the first two measurements are unusable, and that of another one is to the left."""
    p['view'] = np.tile(p['view'], (len(p['source']), 1))
    p['view'][:2] = 0
    p['view'][30] = [0, 1, 0]
    p['source'][30, 0] += 90


@case
def parallel_up(p): p['up'] = np.array([[1.0, 0, 0]])


@case
def swapped_receivers(p): p['receiver'] = p['receiver'][::-1].copy()


@case
def swapped_channels(p): p['ir'] = p['ir'][:, ::-1].copy()


@case
def right_ear_first(p):
    p['ir'] = p['ir'][:, ::-1].copy()
    p['receiver'] = p['receiver'][::-1].copy()


@case
def no_lateral_levels(p): p['ir'] = np.abs(np.random.default_rng(1).normal(size=(1, 1, TAPS))) + 0 * p['ir']


@case
def delays_per_ear(p): p['delay'] = np.array([[3.0, 5.5]])


@case
def delays_per_measurement(p):
    p['delay'] = np.arange(2.0 * len(p['ir'])).reshape(-1, 2) / 4


@case
def delay_missing(p): p['delay'] = None


@case
def two_distances(p):
    near = p['source'][::2] * [1, 1, 0.2]
    p['source'] = np.concatenate([near, p['source']])
    p['ir'] = np.concatenate([3 * p['ir'][::2], p['ir']])


@case
def latin1_text(p): p['attributes']['Organization'] = b'Technische Hochschule K\xf6ln\x1b[31m\nx=y'


@case
def delay_1(p): p['delay'] = np.zeros((1,))


@case
def delay_3(p): p['delay'] = np.zeros((1, 3))


@case
def delay_nan(p): p['delay'] = np.array([[0, np.nan]])


@case
def delay_infinite(p): p['delay'] = np.array([[np.inf, 0]])


@case
def delay_huge(p): p['delay'] = np.array([[0, 1e12]])


@case
def delay_negative(p): p['delay'] = np.array([[-4.0, 0]])


@case
def source_long(p): p['source'] = np.concatenate([p['source'], p['source']])


@case
def source_short(p): p['source'] = p['source'][:-1]


@case
def source_missing(p): p['source'] = None


@case
def source_nan(p): p['source'][5, 0] = np.nan


@case
def source_far(p): p['source'][7, 2] = 1e6


@case
def source_inside(p): p['source'][7, 2] = 0.0


@case
def source_type(p): p['types']['source'] = ('spherical harmonics', 'metre')


@case
def rate_1(p): p['rate'] = np.array([1.0])


@case
def rate_7(p): p['rate'] = np.array([7.0])


@case
def rate_11(p): p['rate'] = np.array([11.71875])


@case
def rate_280_million(p): p['rate'] = np.array([2.8e8])


@case
def rate_1e9(p): p['rate'] = np.array([1e9])


@case
def rate_nan(p): p['rate'] = np.array([np.nan])


@case
def rate_missing(p): p['rate'] = None


@case
def rates_differ(p): p['rate'] = np.linspace(44100, 48000, len(p['ir']))


@case
def ir_nan(p): p['ir'][3, 1, 7] = np.nan


@case
def ir_infinite(p): p['ir'][3, 0, 7] = np.inf


@case
def ir_zero(p): p['ir'][2] = 0


@case
def ir_tiny(p): p['ir'][2] *= 1e-4


@case
def ir_short(p): p['dimensions']['N'] = TAPS + 1


@case
def ir_missing(p): p['ir_left_out'] = True


@case
def samples_0(p): p['dimensions']['N'] = 0


@case
def samples_8(p): p['ir'] = p['ir'][:, :, 8:16] + 1


@case
def samples_many(p):
    p['ir'] = np.ones((4, 2, 65537))
    p['storage'] = {}
    p['source'] = p['source'][:4]


@case
def samples_longest(p):
    """Four directions with noise of the largest length."""
    p['ir'] = np.random.default_rng(1).normal(size=(4, 2, 65536)) * 0.01
    p['storage'] = {}
    p['source'] = np.array([[0, 0, RADIUS], [90, 0, RADIUS], [180, 0, RADIUS], [270, 0, RADIUS]], float)


@case
def measurements_most(p):
    """The largest number of measurements, with noise that decays."""
    m = 65536
    z = 1 - (2 * np.arange(m) + 1) / m
    azimuth = np.degrees(np.arange(m) * np.pi * (3 - np.sqrt(5))) % 360
    p['source'] = np.column_stack([azimuth, np.degrees(np.arcsin(z)), np.full(m, RADIUS)])
    p['ir'] = np.random.default_rng(2).normal(size=(m, 2, 64)) * np.exp(-np.arange(64) / 20)
    p['storage'] = {}


@case
def level_low(p): p['ir'] = p['ir'] * 1e-39


@case
def level_high(p): p['ir'] = p['ir'] * 1e6


@case
def measurements_wrapping(p): p['dimensions']['M'] = 2 ** 31 + len(p['ir'])


@case
def measurements_3(p):
    p['ir'] = p['ir'][:3]
    p['source'] = p['source'][:3]


@case
def receivers_1(p): p['ir'] = p['ir'][:, :1]


@case
def receivers_4(p): p['ir'] = np.concatenate([p['ir'], p['ir']], 1)


@case
def no_shuffle(p): p['storage'] = {'compression': 'gzip'}


@case
def single_precision(p): p['ir'] = p['ir'].astype('f4')


@case
def room_responses(p): p['attributes']['SOFAConventions'] = 'MultiSpeakerBRIR'


@case
def transfer_functions(p): p['attributes']['DataType'] = 'TF'


@case
def no_sofa(p): p['attributes'].pop('Conventions')


def write(path, p):
    m, r, n = p['ir'].shape
    sizes = {'I': 1, 'C': 3, 'E': 1, 'R': r, 'M': m, 'N': n}
    # libmysofa reads no other form of HDF5 that h5py writes.
    with h5py.File(path, 'w', libver='v108', track_order=True) as f:
        for key, value in p['attributes'].items():
            f.attrs[key] = np.bytes_(value)
        scales = {}
        for name, size in sizes.items():
            scale = f.create_dataset(name, shape=(max(size, 1),), dtype='>f4')
            told = p['dimensions'].get(name, size)
            scale.make_scale('This is a netCDF dimension but not a netCDF variable.%10d' % told)
            # libmysofa reads fixed-length text
            del scale.attrs['NAME']
            scale.attrs['NAME'] = np.bytes_('This is a netCDF dimension but not a netCDF variable.%10d' % told)
            scales[name] = scale
        names = {'ir': 'Data.IR', 'rate': 'Data.SamplingRate', 'delay': 'Data.Delay', 'source': 'SourcePosition',
                 'receiver': 'ReceiverPosition', 'listener': 'ListenerPosition', 'view': 'ListenerView',
                 'up': 'ListenerUp'}
        for key, name in names.items():
            if p[key] is None or p.get(key + '_left_out'):
                continue
            array = np.asarray(p[key])
            data = f.create_dataset(name, data=array if array.dtype == 'f4' else array.astype('f8'), **p['storage'])
            if key in p['types']:
                data.attrs['Type'], data.attrs['Units'] = (np.bytes_(text) for text in p['types'][key])
        f.create_dataset('EmitterPosition', data=np.zeros((1, 3, 1)))


def main(arguments):
    if arguments == ['list']:
        print('\n'.join(CASES))
        return
    directory, names = arguments[0], arguments[1:] or [name for name in CASES if name not in LARGE]
    for name in names:
        parts = good()
        CASES[name](parts)
        write(os.path.join(directory, name + '.sofa'), parts)


if __name__ == '__main__':
    main(sys.argv[1:])
