# SPDX-License-Identifier: Apache-2.0
"""The head that a virtual tracker is worn on."""
import math
import os
import time

SPEED = 180  # degrees per second


def product(a, b):
    w, x, y, z = a
    W, X, Y, Z = b
    return (w * W - x * X - y * Y - z * Z, w * X + x * W + y * Z - z * Y,
            w * Y - x * Z + y * W + z * X, w * Z + x * Y - y * X + z * W)


def turn(axis, degrees):
    half = math.radians(degrees) / 2
    return (math.cos(half), *(math.sin(half) if axis == i else 0 for i in range(3)))


class Head:
    """Turns 40 degrees to each side in 8 s. If the folder has a file `pose` with yaw, pitch and
    roll in degrees, the head turns to that pose instead. Like every head it trembles, by 0.1
    degrees, unless the folder has a file `still`."""

    def __init__(self, folder):
        self.folder = folder
        self.begin = self.last = time.monotonic()
        self.pose = [0, 0, 0]

    def quaternion(self):
        """The present head to the world; x front, y left, z up."""
        now = time.monotonic()
        step = SPEED * (now - self.last)
        self.last = now
        try:
            with open(f'{self.folder}/pose') as file:
                wanted = [float(text) for text in file.read().split()]
            if len(wanted) == 3:
                self.pose = [a + max(-step, min(step, b - a)) for a, b in zip(self.pose, wanted)]
        except OSError:
            self.pose = [40 * math.sin(2 * math.pi * (now - self.begin) / 8), 0, 0]
        yaw, pitch, roll = self.pose
        if not os.path.exists(f'{self.folder}/still'):
            pitch += 0.1 * math.sin(9 * now)
            roll += 0.1 * math.cos(9 * now)
        return product(product(turn(2, yaw), turn(1, -pitch)), turn(0, roll))
