#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ranks do for SWEEP, measured: sweep_scaling.py LACIS MPIRUN MODULE [N [STEPS [RANKS,RANKS ...]]]. Not a test.

Grids of N x N (2048), f32, 5-point average, one thread a rank. Tables: exchanges that are waited for against overlapped
ones, halos of several depths, strong scaling (one grid), weak scaling (N x N cells a rank); and a timeline: what an
exchange took of each rank, of which packing, waiting and unpacking are exposed communication.
"""
import csv
import os
import re
import sys
import tempfile

from ranks import good

FIVE = "(u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) / 4"


def measure(ranks, nx, ny, steps, timeline=None, **variables):
    """Seconds of the statement, and of ranks: computing, waiting, packing; halo bytes a step."""
    names = {f"LACIS_SWEEP_{name.upper()}": str(value) for name, value in variables.items()}
    if timeline is not None:
        names["LACIS_SWEEP_TIMELINE"] = timeline
    os.environ.update(names)
    try:
        said = good(ranks, ("SET ranks = all;" if ranks > 1 else "") + f"SET threads = 1; GENERATE g AS noise({nx}, {ny}, type = 'f32');"
                    f"EXPLAIN ANALYZE SWEEP g STEP {FIVE} STEPS {steps};" * 1)
    finally:
        for name in names:
            del os.environ[name]
    figure = lambda text: float((re.search(text + r"[ \w]*? ([\d.e+-]+)", said) or [0, 0])[1])
    return {"seconds": figure("seconds"), "compute": figure("seconds of computing, ranks together") / ranks,
            "wait": figure("seconds of waiting for halos, ranks together") / ranks,
            "pack": figure("seconds of packing and unpacking, ranks together") / ranks,
            "bytes": figure("halo bytes") / steps}


def best(count, *args, **named):
    return min((measure(*args, **named) for _ in range(count)), key=lambda row: row["seconds"])


def line(name, row, cells, steps):
    swept = row["compute"] + row["wait"] + row["pack"] or row["seconds"]
    exposed = row["wait"] + row["pack"]
    print(f"| {name} | {row['seconds']:.3f} | {1e-9 * cells * steps / swept:.2f} | {1e6 * exposed / steps:.1f} | "
          f"{exposed / swept:.1%} | {1e-3 * row['bytes']:.1f} |", flush=True)


HEAD = "| {} | statement, s | GCells/s of the steps | exposed, us a step | share | halo KB a step |\n|---|---|---|---|---|---|"


def main():
    n, steps = (int(v) for v in (sys.argv[4:6] + ["2048", "64"][len(sys.argv[4:6]):]))
    counts = [int(v) for v in (sys.argv[6] if len(sys.argv) > 6 else "2,4").split(",")]
    for ranks in counts:
        print(HEAD.format(f"{n} x {n}, {ranks} ranks"))
        for exchange in ("sync", "async"):
            line(f"1 deep, {exchange}", best(3, ranks, n, n, steps, deep=1, exchange=exchange), n * n, steps)
        for deep in (4, 8, 16):
            line(f"{deep} deep", best(3, ranks, n, n, steps, deep=deep), n * n, steps)
        print()
    print(HEAD.format("strong scaling"))
    for ranks in [1] + counts:
        line(f"{ranks} ranks, {n} x {n}", best(3, ranks, n, n, steps), n * n, steps)
    print("\n" + HEAD.format("weak scaling"))
    for ranks in [1] + counts:
        line(f"{ranks} ranks, {n} x {n * ranks}", best(3, ranks, n, n * ranks, steps), n * n * ranks, steps)
    with tempfile.NamedTemporaryFile("r", suffix=".csv") as file:
        measure(counts[0], n, n, steps, timeline=file.name, deep=1, exchange="async")
        rows = [row for row in csv.DictReader(file) if int(row["exchange"]) in range(8, 12)]
    print(f"\n| timeline, {counts[0]} ranks, 1 deep, us: exchange | rank | pack | centre | wait | unpack | rim |\n|---|---|---|---|---|---|---|")
    for row in sorted(rows, key=lambda row: (int(row["exchange"]), int(row["rank"]))):
        print(f"| {row['exchange']} | {row['rank']} | " +
              " | ".join(f"{1e6 * float(row[name]):.0f}" for name in ("pack", "centre", "wait", "unpack", "rest")) + " |")


if __name__ == "__main__":
    main()
