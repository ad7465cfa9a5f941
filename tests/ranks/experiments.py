#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lacis-bench sweep --experiment under mpirun: experiments.py LACIS MPIRUN MODULE BENCH. Each prints its table, with the
figures that belong together; what it cannot do it says."""
import json
import subprocess
import sys

from ranks import launcher, run_all

BENCH = sys.argv[4]


def bench(ranks, experiment, *more):
    """(exit code, stdout, stderr) of an experiment on small grids."""
    before = launcher(ranks) if ranks else []
    done = subprocess.run([*before, BENCH, "sweep", "--experiment", experiment, "--n", "192", "--repeat", "1", "--threads",
                           "1", *more], capture_output=True, text=True, timeout=200, check=False)
    return done.returncode, done.stdout, done.stderr


def rows(ranks, experiment):
    code, out, err = bench(ranks, experiment, "--json")
    assert code == 0, (code, err)
    return [json.loads(line) for line in out.splitlines()]


def exchanges():
    found = rows(4, "exchange")
    ways = [f"{way} EVERY {deep}" for deep in (1, 4, 12, 48) for way in ("sync", "async")]
    assert [row["case"].split(", ")[1] for row in found if "EVERY" in row["case"]] == ways, found
    for row in found:
        assert row["parts"] == 4 and row["step_ms"] > 0 and row["exposed_us"] > 0 and row["halo_KB"] > 0, row
        assert abs(row["share"] - row["exposed_us"] / row["step_ms"] / 1e3) < 1e-2 * row["share"] + 1e-3, row


def strong_and_weak():
    strong, weak = rows(4, "strong"), rows(4, "weak")
    assert [(row["parts"], row["nx"], row["ny"]) for row in strong] == [(p, 192, 192) for p in (1, 2, 4)], strong
    assert [(row["parts"], row["nx"], row["ny"]) for row in weak] == [(p, 192, 192 * p) for p in (1, 2, 4)], weak
    for found in strong, weak:
        assert found[0]["speedup"] == 1 and found[0]["exposed_us"] == 0, found
        for row in found[1:]:
            by_cell = found[0]["step_ms"] / row["step_ms"] * row["ny"] / found[0]["ny"]
            assert row["exposed_us"] > 0 and abs(row["speedup"] - by_cell) < 0.02 * by_cell + 2e-3, (row, by_cell)


def a_timeline():
    code, out, err = bench(3, "timeline")
    assert code == 0, err
    table = [line.split() for line in out.split("exposed  (us)")[1].splitlines() if line.strip()]
    assert [(int(row[0]), int(row[1])) for row in table] == [(e, p) for e in range(8, 14) for p in range(3)], out
    for row in table:
        pack, wait, unpack, exposed = float(row[2]), float(row[4]), float(row[5]), float(row[7])
        assert abs(pack + wait + unpack - exposed) < 0.3, row


def a_timeline_in_json():
    whole, *lines = rows(3, "timeline")
    assert whole["case"] == "sweep/timeline/async EVERY 1" and whole["parts"] == 3, whole
    assert [(row["exchange"], row["part"]) for row in lines] == [(e, p) for e in range(8, 14) for p in range(3)], lines
    for row in lines:
        assert abs(row["pack_us"] + row["wait_us"] + row["unpack_us"] - row["exposed_us"]) < 5e-3, row


def refusals():
    code, out, err = bench(0, "strong")
    assert code == 2 and out == "" and "mpirun -n N" in err, (code, out, err)
    code, out, err = bench(2, "sideways")
    assert code == 2 and "--experiment is exchange, pack, strong, weak or timeline, not sideways" in err, (code, out, err)
    code, out, err = bench(2, "pack")
    assert code == 2 and "--device gpu" in err, (code, out, err)
    for side in ("abc", "12", "192x", ""):
        code, out, err = bench(2, "weak", "--n", side)
        assert (code, out) == (2, "") and f"64 to 1000000 cells, not {side}" in err, (side, code, out, err)
    for experiment in ("weak", "timeline"):
        code, out, err = bench(2, experiment, "--way", "sideways")
        assert (code, out) == (2, "") and 'has "sideways" in its name' in err, (experiment, code, out, err)


if __name__ == "__main__":
    sys.exit(run_all([exchanges, strong_and_weak, a_timeline, a_timeline_in_json, refusals]))
