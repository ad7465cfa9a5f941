#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged database files: bytes changed, pages zeroed, the end cut off. The program may refuse the file or an array and
say so, and what it does read is right; it never crashes.   damage.py LACIS"""
import os
import random
import subprocess
import sys
import tempfile

from program import Program, run_all

LACIS = Program(sys.argv[1])
TRIES = 150
ASKED = "SELECT count(*), total(src), total(dst), total(value) FROM "


def changed(data):
    """A copy with something wrong."""
    copy = bytearray(data)
    kind = random.randrange(4)
    at = random.randrange(len(copy))
    if kind == 0:
        copy[at] ^= 1 << random.randrange(8)
    elif kind == 1:
        page = at // 16384 * 16384
        copy[page:page + 16384] = bytes(len(copy[page:page + 16384]))
    elif kind == 2:
        for _ in range(50):
            copy[random.randrange(min(len(copy), 20000))] = random.randrange(256)
    else:
        del copy[at:]
    return bytes(copy), ("bit", "page", "head", "cut")[kind]


def ask(path, name):
    done = subprocess.run([LACIS.path, "--mode", "csv", "-c", f"{ASKED} {name}", path], capture_output=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode("utf-8", "replace")


def damaged_files():
    random.seed(5)
    refused = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "d.lacis")
        LACIS.good("GENERATE g AS uniform(n = 3000, degree = 8, seed = 1); LET h = MULTIPLY g BY g HAVING src < 500;"
                   "CREATE VIEW v AS MULTIPLY g BY g HAVING dst < 9;", path)
        with open(path, "rb") as file:
            whole = file.read()
        right = {name: ask(path, name)[1] for name in ("g", "h", "v")}
        for i in range(TRIES):
            data, kind = changed(whole)
            with open(path, "wb") as file:
                file.write(data)
            name = "ghv"[i % 3]
            code, out, err = ask(path, name)
            assert code in (0, 1, 3), f"{kind}: exit {code}: {err}"
            if code == 0:
                assert out == right[name], f"{kind}: {name} is read as {out!r}, not {right[name]!r}"
            else:
                refused += 1
                assert "error: " in err, err
    assert refused > TRIES / 4, f"only {refused} of {TRIES} were refused"
    return f"{refused} of {TRIES} refused"


if __name__ == "__main__":
    sys.exit(run_all([damaged_files]))
