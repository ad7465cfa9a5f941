#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A product of about ten times the memory limit is summed, read by SQL and saved within the limit, exactly; storing it is
refused before anything runs.   streaming.py LACIS DATA"""
import os
import resource
import subprocess
import sys
import tempfile

LIMIT_MB = 35
GRAPH = "GENERATE g AS rmat(scale = 15, edge_factor = 16, seed = 5)"
VIEW = "CREATE VIEW f AS MULTIPLY g BY g CON nil AGG count"


def run(lacis, text, limit=None):
    setting = f"SET memory_limit = {limit}MB;" if limit else ""
    process = subprocess.Popen([lacis, "--mode", "csv", "-c", f"{setting} {GRAPH}; {VIEW}; {text}"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, err = process.communicate(timeout=600)
    return process.returncode, out, err


def peak_mb(lacis, text, limit):
    """Peak resident memory of the whole process, measured by the kernel."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    code, out, err = run(lacis, text, limit)
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return code, out, err, max(before, after) / 1024


def main():
    lacis = sys.argv[1]
    totals = "SELECT count(*), sum(value), max(value) FROM f"
    # The small one first: ru_maxrss is the largest child so far.
    code, small, err, peak = peak_mb(lacis, totals, LIMIT_MB)
    assert code == 0, err
    assert peak < LIMIT_MB + 40, f"peak {peak:.0f} MB with a limit of {LIMIT_MB} MB"
    code, out, err = run(lacis, "LET c = MULTIPLY g BY g CON nil AGG count", LIMIT_MB)
    assert code == 1 and "needs about" in err and "TOP" in err, err
    code, rows, err, peak_rows = peak_mb(lacis, totals + " WHERE value > 0", LIMIT_MB)
    assert code == 0, err
    assert rows == small, (rows, small)
    assert peak_rows < LIMIT_MB + 40, f"peak {peak_rows:.0f} MB by rows"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "f.csv")
        code, out, err, peak_file = peak_mb(lacis, f"SAVE f TO '{path}'", LIMIT_MB)
        assert code == 0, err
        with open(path) as file:
            lines = sum(1 for _ in file)
    code, large, err = run(lacis, totals)
    assert code == 0 and large == small, (large, small)
    count = int(large.splitlines()[1].split(",")[0])
    assert lines == count + 1, (lines, count)
    size = 6 * count / 1e6  # a column number and a u16 count
    assert size > 9 * LIMIT_MB, f"the product is only {size:.0f} MB"
    print(f"product {size:.0f} MB of 6-byte entries, limit {LIMIT_MB} MB, peak {peak:.0f} MB (totals), "
          f"{peak_rows:.0f} MB (rows), {peak_file:.0f} MB (file)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
