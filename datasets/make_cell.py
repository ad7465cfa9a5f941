#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes cell.swc: a made-up pyramidal cell with a soma of three points, an axon, five dendrites and an apical dendrite.
Same bytes on every run.

    python3 datasets/make_cell.py > datasets/cell.swc
"""
SOMA, AXON, DENDRITE, APICAL = 1, 2, 3, 4
SOMA_RADIUS = 900  # lengths are whole hundredths of a micrometre, so that no rounding differs between machines


class Dice:
    """A linear congruential generator (Knuth's MMIX constants)."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n


def grow(samples, dice, kind, start, heading, radius, steps, branches):
    """A neurite from sample `start` on: `steps` samples along a heading that wanders, then two of them, `branches` times
    over; thinner with each."""
    tips = [(start, heading, radius, branches)]
    while tips:
        parent, way, radius, left = tips.pop()
        x, y, z = samples[parent - 1][1:4]
        for _ in range(steps):
            way = [w + dice.below(301) - 150 for w in way]
            x, y, z = x + way[0], y + way[1], z + way[2]
            radius = max(20, radius * 24 // 25)
            samples.append((kind, x, y, z, radius, parent))
            parent = len(samples)
        if left > 0:
            side = [dice.below(801) - 400 for _ in way]
            for sign in (1, -1):
                tips.append((parent, [w + sign * s for w, s in zip(way, side)], radius * 4 // 5, left - 1))


def make_samples(seed=1952):
    dice = Dice(seed)
    samples = [(SOMA, 0, 0, 0, SOMA_RADIUS, -1),
               (SOMA, 0, -SOMA_RADIUS, 0, SOMA_RADIUS, 1),
               (SOMA, 0, SOMA_RADIUS, 0, SOMA_RADIUS, 1)]
    grow(samples, dice, AXON, 1, [0, -1100, 0], 60, 8, 2)
    for way in ([900, -300, 200], [-900, -350, -100], [500, 100, 800], [-600, 150, -700], [100, -500, -900]):
        grow(samples, dice, DENDRITE, 1, list(way), 120, 5, 2)
    grow(samples, dice, APICAL, 1, [0, 1500, 0], 200, 9, 3)
    return samples


def hundredths(n):
    return f"{'-' if n < 0 else ''}{abs(n) // 100}.{abs(n) % 100:02}"


def main():
    print("# A made-up pyramidal cell, written by datasets/make_cell.py (Apache-2.0); lengths in um")
    print("# id type x y z radius parent")
    for i, (kind, x, y, z, radius, parent) in enumerate(make_samples(), 1):
        print(i, kind, *map(hundredths, (x, y, z, radius)), parent)


if __name__ == "__main__":
    main()
