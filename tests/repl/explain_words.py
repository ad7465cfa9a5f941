#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans can be read by someone who never saw one: those of every operator say what was chosen, why and how it goes, put no unit
in doubt and use no word of the sources. explain_words.py LACIS SOURCE."""
import re
import subprocess
import sys

LACIS, SOURCE = sys.argv[1:3]
SET_UP = """LOAD g FROM 'datasets/friends.txt'; LOAD cell FROM 'datasets/cell.swc'; LOAD plate FROM 'datasets/plate.pgm';
GENERATE s AS tridiagonal(rows = 50, lanes = 100); GENERATE a AS symmetric(n = 100); GENERATE x AS random(n = 100);
GENERATE stars AS plummer(n = 2000, seed = 1);"""
CALLS = [
    "MULTIPLY g BY g CON nil AGG count WHERE src IN (30) TOP 5", "MULTIPLY g BY g CON a * 2 + b AGG (x, y) -> x + y IDENTITY 0",
    "POWER g UNTIL STABLE CON a + b AGG min", "SOLVE s", "CONVERT s LAYOUT full AS f32", "SECTIONS cell", "COMPARTMENTS cell",
    "SIMULATE cell DT 0.025 STEPS 100 HH PROBE soma LANES 100", "SYMV a BY x", "SYMV a BY x PRECISION dd ORDER canonical",
    "NBODY stars STEPS 3 DT 0.01 ERROR 1e-3", "ACCELERATE stars THETA 0.7",
    "SWEEP plate STEP (u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) / 4 STEPS 100",
]
OF_THE_SOURCES = re.compile(r"\b(isa|avx512|avx2|accumulators?|strips of code|ld|taps?|floor|P2P|M2P|products=)\b")


def plan(call):
    done = subprocess.run([LACIS, "--mode", "table", "-c", f"{SET_UP} EXPLAIN {call}"], cwd=SOURCE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(call):
    text = plan(call)
    chosen = re.search(r"^  chosen: (.+) on (CPU|GPU), (the only way that can run here|the fastest by estimate\b.*)$", text, re.M)
    assert chosen, f"no reason: {text}"
    assert re.search(r"^  how: \w.*$", text, re.M), text
    assert re.search(r"^  work: \d+ [a-z -]+; result: about \d+ entries, [\d.]+ (bytes|kB|MB)$", text, re.M), text
    able = re.findall(r"^    [*-] (.+) on [CG]PU: about [\d.e+-]+ s, memory at most [\d.]+ (?:bytes|kB|MB|GB)", text, re.M)
    assert chosen[1] in able and text.count("\n    * ") == 1, text
    assert (len(able) > 1) == (chosen[3] != "the only way that can run here"), text
    refused = re.findall(r"^    - .* on ([CG]PU): cannot: (.+)$", text, re.M)
    assert len(refused) == len(set(refused)), f"a reason is told twice: {text}"
    assert not OF_THE_SOURCES.search(text), (OF_THE_SOURCES.search(text)[0], text)


def main():
    for call in CALLS:
        check(call)
    print(f"{len(CALLS)} plans read")


if __name__ == "__main__":
    main()
