#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes cluster.csv: a star cluster of 1000 bodies, Plummer's model in equilibrium (G = 1, mass and length 1), drawn as
Aarseth, Henon and Wielen did (1974), with its centre of mass at rest at the origin. Same bytes on every run.

    python3 datasets/make_cluster.py > datasets/cluster.csv
"""
import math

BODIES = 1000


class Dice:
    """A linear congruential generator (Knuth's MMIX constants)."""

    def __init__(self, seed):
        self.state = seed

    def unit(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return ((self.state >> 32) + 0.5) / 2**32


def direction(dice, length):
    while True:
        x, y, z = (2 * dice.unit() - 1 for _ in range(3))
        square = x * x + y * y + z * z
        if 0.01 < square < 1:
            scale = length / math.sqrt(square)
            return [x * scale, y * scale, z * scale]


def speed(dice, r):
    while True:
        q, height = dice.unit(), 0.1 * dice.unit()
        w = 1 - q * q
        if height < q * q * w**3 * math.sqrt(w):
            return q * math.sqrt(2 / math.sqrt(1 + r * r))


def body(dice):
    r = 1 / math.sqrt((0.999 * dice.unit()) ** (-2 / 3) - 1)
    return direction(dice, r) + direction(dice, speed(dice, r))


def main():
    dice = Dice(1974)
    bodies = [body(dice) for _ in range(BODIES)]
    means = [math.fsum(column) / BODIES for column in zip(*bodies)]
    print("# A made-up star cluster (Plummer's model), written by datasets/make_cluster.py (Apache-2.0)")
    print("m,x,y,z,vx,vy,vz")
    for figures in bodies:
        print(",".join(["0.001"] + [f"{figure - mean:.5f}" for figure, mean in zip(figures, means)]))


if __name__ == "__main__":
    main()
