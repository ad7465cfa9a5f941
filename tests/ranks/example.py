#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/embedding/ranks_grid on 2 and 3 ranks prints the bytes that it prints alone: example.py PROGRAM MPIRUN MODULE
EXPECTED."""
import pathlib
import sys

from ranks import LACIS, run_all, start


def same_answers():
    wanted = pathlib.Path(sys.argv[4]).read_text()
    for ranks in (2, 3):
        process = start(ranks, program=LACIS)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, f"exit {process.returncode} on {ranks} ranks: {err}"
        assert out == wanted, f"on {ranks} ranks:\n{out}instead of\n{wanted}"
        assert f"ranks_grid: {ranks} at work" in err, err


if __name__ == "__main__":
    sys.exit(run_all([same_answers]))
