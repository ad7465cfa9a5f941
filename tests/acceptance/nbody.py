#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NBODY and ACCELERATE from files to files: runs that are taken up from a snapshot, in another process, after a kill or
from a database file, have the bits of the uninterrupted one; and the public files of bodies against direct sums taken
here.   nbody.py LACIS DATA"""
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from program import Program, run_all

LACIS = Program(sys.argv[1])
BODIES = os.path.join(sys.argv[2], "graphs", "nbody")
ON = os.environ.get("LACIS_TEST_ON", "")  # "ON GPU": tests/gpu/run

# what the bodies are, and how they move
RUNS = (
    ("GENERATE g AS plummer(n = 1500, seed = 4)", "DT 0.01 SOFTEN 0.05"),
    ("GENERATE g AS plummer(n = 1500, seed = 4, type = 'f32')", "DT 0.01 SOFTEN 0.05 THETA 0.7"),
    ("GENERATE g AS clusters(n = 1000, type = 'f32', distance = 20)", "DT 0.01 SOFTEN 0.02 ALPHA 0.01 POTENTIAL"),
    ("GENERATE g AS disk(n = 900)", "DT 0.01 SOFTEN 0.01 ORDER monopole"),
    ("GENERATE g AS galaxies(n = 800, model = 'disk', type = 'f32')", "DT 0.02 SOFTEN 0.02 TYPE mixed"),
    ("GENERATE p AS sphere(n = 700, seed = 9); LET g = SELECT 1000 - id * 7 % 701 AS id, m, x, y, z, vx, vy, vz,"
     " 0.01 + m AS eps FROM p", "DT 0.01"),
)


def in_folder(fn):
    with tempfile.TemporaryDirectory() as folder:
        return fn(folder)


def bytes_of(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def deterministic():
    return "SET deterministic = on;" if ON else ""  # on GPUs, bits are the same under it alone


# ------------------------------------------------------------------------------------------- resuming


def taken_up():
    """From each of the snapshots of a run, as a file and as an array of a database file."""
    def test(folder):
        for make, clauses in RUNS:
            LACIS.good(f"{deterministic()} {make}; LET r = NBODY g STEPS 12 {clauses} EVERY 5 TO 's_*.npy' {ON};"
                       "SAVE r TO 'r.npy';", folder=folder)
            whole = bytes_of(folder, "r.npy")
            for steps in (5, 10):
                LACIS.good(f"{deterministic()} LOAD h FROM 's_{steps:02d}.npy';"
                           f"LET q = NBODY h STEPS {12 - steps} {clauses} {ON}; SAVE q TO 'q.npy';", folder=folder)
                assert bytes_of(folder, "q.npy") == whole, f"{make} NBODY {clauses}: otherwise from step {steps}"
            LACIS.good(f"{deterministic()} {make}; LET h = NBODY g STEPS 7 {clauses} {ON};", "d.lacis", folder=folder)
            LACIS.good(f"{deterministic()} SET threads = 1; LET q = NBODY h STEPS 5 {clauses} {ON}; SAVE q TO 'q.npy';",
                       "d.lacis", folder=folder)
            assert bytes_of(folder, "q.npy") == whole, f"{make} NBODY {clauses}: otherwise from the database"
    in_folder(test)


def killed():
    """kill -9 during a run that writes snapshots: each that is there is whole, and the last one leads to the same end."""
    def test(folder):
        make, clauses, steps = "GENERATE g AS plummer(n = 3000, seed = 2, type = 'f32')", "DT 0.005 SOFTEN 0.05", 60
        LACIS.good(f"{deterministic()} {make}; LET r = NBODY g STEPS {steps} {clauses} {ON}; SAVE r TO 'r.npy';",
                   folder=folder)
        random.seed(6)
        found = set()
        for _ in range(6):
            script = f"{deterministic()} {make}; LET r = NBODY g STEPS {steps} {clauses} EVERY 2 TO 's_*.npy' {ON};"
            run = subprocess.Popen([LACIS.path, "-c", script], cwd=folder, stderr=subprocess.DEVNULL)
            until = time.monotonic() + 60
            wanted = f"s_{2 * random.randrange(1, 20):02d}.npy"
            while not os.path.exists(os.path.join(folder, wanted)) and time.monotonic() < until and run.poll() is None:
                time.sleep(0.002)
            time.sleep(random.random() * 0.02)
            run.send_signal(signal.SIGKILL)
            run.wait()
            last = max(int(name[2:4]) for name in os.listdir(folder) if name.startswith("s_") and name.endswith(".npy"))
            found.add(last)
            LACIS.good(f"{deterministic()} LOAD h FROM 's_{last:02d}.npy';"
                       f"LET q = NBODY h STEPS {steps - last} {clauses} {ON}; SAVE q TO 'q.npy';", folder=folder)
            assert bytes_of(folder, "q.npy") == bytes_of(folder, "r.npy"), f"otherwise from step {last}"
            for name in os.listdir(folder):
                if name.startswith("s_"):
                    os.remove(os.path.join(folder, name))
        return f"taken up at steps {sorted(found)}"
    return in_folder(test)


# -------------------------------------------------------------------------------------------- fields


def direct(bodies, at, gravity, soften):
    """The acceleration of body `at`, summed without rounding errors that count."""
    _, _, x, y, z = bodies[at]
    terms = ([], [], [])
    for k, (_, m, a, b, c) in enumerate(bodies):
        d = (a - x, b - y, c - z)
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + soften * soften
        if k == at or square == 0:
            continue
        for axis in range(3):
            terms[axis].append(gravity * m * d[axis] / (square * math.sqrt(square)))
    return [math.fsum(axis) for axis in terms]


def exact_fields(path, gravity, soften, sample):
    """What so many bodies of the file feel, by their ids."""
    rows = LACIS.good(f"LOAD b FROM '{path}'; SELECT id, m, x, y, z FROM b ORDER BY id;")
    bodies = [[int(row[0])] + [float(x) for x in row[1:]] for row in rows[1:]]
    step = max(1, len(bodies) // sample)
    return {bodies[at][0]: direct(bodies, at, gravity, soften) for at in range(0, len(bodies), step)}


def errors(path, clauses, gravity, soften, exact):
    """Relative errors of these accelerations, rising."""
    rows = LACIS.good(f"LOAD b FROM '{path}'; LET f = ACCELERATE b G {gravity!r} SOFTEN {soften!r} {clauses} {ON};"
                      f"SELECT id, ax, ay, az FROM f WHERE id IN ({', '.join(map(str, exact))});")
    assert len(rows) == len(exact) + 1
    return sorted(math.dist([float(x) for x in row[1:]], exact[int(row[0])]) / math.hypot(*exact[int(row[0])])
                  for row in rows[1:])


# constant of gravity and softening; what all pairs reach in the type of the file; median and 95 % (of a small sample, for
# the 99 % of many) of monopoles and of quadrupoles at theta 0.5: those of the gate for spheres, three times as much for
# galaxies with thin disks, twenty and ten times for a planar one, where the moments that cells lack all pull one way while
# the forces of an even disk cancel.
GATE = ((1e-3, 5e-3), (2.5e-4, 1e-3))
THIN = ((3e-3, 1.5e-2), (7.5e-4, 3e-3))
PLANAR = ((2e-2, 1e-1), (2.5e-3, 1e-2))
FILES = (
    ("planets.txt", 6.67e-11, 0.0, 1e-14, GATE),
    ("galaxy1.txt", 6.67e-11, 0.0, 1e-13, GATE),
    ("collision1.txt", 6.67e-11, 0.0, 1e-13, GATE),
    ("galaxy10k.txt", 6.67e-11, 1e3, 1e-13, PLANAR),
    ("galaxy_20K.bin", 1.0, 0.05, 3e-6, THIN),
    ("gadget_single_000", 43007.1, 0.4, None, THIN),  # all pairs would take long
)


def public_files():
    said = []
    for name, gravity, soften, rounding, (monopole, quadrupole) in FILES:
        path = os.path.join(BODIES, name)
        ways = [("THETA 0.5 ORDER monopole", monopole), ("THETA 0.5 ORDER quadrupole", quadrupole)]
        if rounding is not None:
            ways.append(("THETA 0", (rounding / 10, rounding)))
        exact = exact_fields(path, gravity, soften, 80)
        for clauses, (median, most) in ways:
            found = errors(path, clauses, gravity, soften, exact)
            half, tail = found[len(found) // 2], found[len(found) * 95 // 100]
            said.append(f"{name} {clauses}: {half:.1e} {tail:.1e}")
            assert half <= median and tail <= most, "\n".join(said)
    return "\n  " + "\n  ".join(said)


if __name__ == "__main__":
    tests = [taken_up, killed]
    if os.path.isdir(BODIES):
        tests += [public_files]
    else:
        print(f"{BODIES} is not here: no public files")
    sys.exit(run_all(tests))
