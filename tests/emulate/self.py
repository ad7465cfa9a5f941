#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the emulator's own test, self.py PROGRAM: right kernels are right with every seed, each planted fault is found."""
import os
import subprocess
import sys

SEEDS = range(13)  # 0: in order
RIGHT = ["sum", "warps", "flag", "clusters", "refused", "two-streams"]
STOPPED = {  # with any seed, and what is said
    "no-flag": "deadlock",
    "stuck": "deadlock",
    "two-barriers": "a barrier that others",
    "mask": "lacks the lane",
    "shared": "behind the shared variable",
    "dynamic": "bad address",
    "behind-block": "behind a block",
    "freed-twice": "was freed before",
}
WRONG = ["no-barrier", "no-event", "read-early", "copied-early"]  # with some seed


def run(program, mode, seed):
    environment = dict(os.environ, EMULATE_SEED=str(seed))
    return subprocess.run([program, mode], env=environment, capture_output=True, text=True, timeout=100, check=False)


def main():
    program = sys.argv[1]
    sanitized = len(sys.argv) > 2 and sys.argv[2] == "--asan"
    failures = []
    for mode in RIGHT:
        codes = [run(program, mode, seed).returncode for seed in SEEDS]
        if any(codes):
            failures.append("%s: exit codes %s" % (mode, codes))
    for mode, text in STOPPED.items():
        for seed in (0, 1, 2):
            done = run(program, mode, seed)
            told = text in done.stderr or (sanitized and ("AddressSanitizer" in done.stderr or "runtime error" in done.stderr))
            if done.returncode != 3 or not told:
                failures.append("%s with seed %d: exit code %d: %s" % (mode, seed, done.returncode, done.stderr[:600]))
    for mode in WRONG:
        codes = [run(program, mode, seed).returncode for seed in SEEDS]
        if 1 not in codes or set(codes) - {0, 1}:
            failures.append("%s: exit codes %s" % (mode, codes))
    print("\n".join(failures) or "emulator: right kernels pass, %d planted faults are found" % (len(STOPPED) + len(WRONG)))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
