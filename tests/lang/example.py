#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program of examples/embedding prints what its .txt says: example.py PROGRAM SOURCE NAME."""
import difflib
import pathlib
import subprocess
import sys


def main():
    program, source, name = sys.argv[1:4]
    wanted = (pathlib.Path(source) / "examples/embedding" / f"{name}.txt").read_text()
    done = subprocess.run([program], cwd=source, capture_output=True, text=True, timeout=120)
    sys.stdout.writelines(difflib.unified_diff(wanted.splitlines(True), done.stdout.splitlines(True), "said", "printed"))
    print(done.stderr, end="")
    return done.returncode != 0 or done.stdout != wanted


if __name__ == "__main__":
    sys.exit(main())
