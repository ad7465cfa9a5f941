#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""REBOUND's Barnes-Hut tree for lacis-bench nbody: peer_rebound.py BODIES.csv THETA EPS prints the seconds of a leapfrog
step (the least of some), and the median and 99th percentile of its accelerations' relative error against direct sums."""
import csv
import math
import sys
import time

import rebound

SAMPLE, STEPS, DT = 200, 3, 1e-3


def direct(bodies, at, i, eps):
    a = [0.0, 0.0, 0.0]
    for j, (m, x, y, z) in enumerate(bodies):
        dx, dy, dz = x - at[0], y - at[1], z - at[2]
        r2 = dx * dx + dy * dy + dz * dz + eps * eps
        if j == i:
            continue
        w = m / (r2 * math.sqrt(r2))
        a[0] += w * dx
        a[1] += w * dy
        a[2] += w * dz
    return a


def main():
    path, theta, eps = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    with open(path, newline="", encoding="utf-8") as file:
        rows = [[float(row[c]) for c in ("m", "x", "y", "z", "vx", "vy", "vz")] for row in csv.DictReader(file)]
    sim = rebound.Simulation()
    side = 2.2 * max(abs(v) for row in rows for v in row[1:4])
    if hasattr(sim, "configure_box"):  # until version 4
        sim.configure_box(side)
    else:
        sim.root_size = side
    sim.integrator, sim.gravity, sim.boundary = "leapfrog", "tree", "open"
    sim.opening_angle2, sim.softening, sim.dt = theta * theta, eps, DT
    for m, x, y, z, vx, vy, vz in rows:
        sim.add(m=m, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz)
    least = math.inf
    steps = sim.steps if hasattr(sim, "steps") else lambda count: [sim.step() for _ in range(count)]
    steps(1)
    for _ in range(STEPS):
        begin = time.perf_counter()
        steps(1)
        least = min(least, time.perf_counter() - begin)
    # Leapfrog there is drift, kick, drift: accelerations are those of the places half a step before the end.
    particles = sim.particles
    bodies = [(p.m, p.x - DT / 2 * p.vx, p.y - DT / 2 * p.vy, p.z - DT / 2 * p.vz) for p in particles]
    errors = []
    for s in range(SAMPLE):
        i = s * len(bodies) // SAMPLE
        p, exact = particles[i], direct(bodies, bodies[i][1:], i, eps)
        errors.append(math.dist((p.ax, p.ay, p.az), exact) / math.hypot(*exact))
    errors.sort()
    print(least, errors[SAMPLE // 2], errors[math.ceil(0.99 * SAMPLE) - 1])


if __name__ == "__main__":
    main()
