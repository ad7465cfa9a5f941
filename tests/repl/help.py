#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples of .help run: those of each topic in their order, from the folder of the sources; those of each operator over
arrays of the names that they use. help.py LACIS SOURCE."""
import csv
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LACIS, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
GRAPH = "GENERATE g AS uniform(40, 3); LET x = SELECT DISTINCT src AS i, 1.5 AS value FROM g;"
BATCH = "GENERATE x AS tridiagonal(rows = 9, lanes = 70); GENERATE a AS symmetric(n = 9); GENERATE g AS noise(8, 8, type = 'f32');"
CELL = """LOAD cell FROM 'datasets/cell.swc';
LET p = SELECT column1 AS lane, column2 AS g FROM (VALUES (0, 1e-4), (1, 2e-4));"""
BODIES = "GENERATE g AS plummer(n = 1500, seed = 1); LET p = SELECT 1.0 AS x, 2.0 AS y, 3.0 AS z;"
SET_UP = {
    "MULTIPLY": GRAPH, "POWER": GRAPH, "CONVERT": BATCH, "SECTIONS": CELL, "COMPARTMENTS": CELL, "SIMULATE": CELL,
    "SOLVE": "GENERATE s AS tridiagonal(rows = 9, lanes = 20); LET r = SELECT lane, row, d FROM s;",
    "SYMV": "GENERATE a AS symmetric(n = 30); GENERATE x AS random(n = 30); GENERATE y AS random(n = 30, seed = 2);",
    "NBODY": BODIES, "ACCELERATE": BODIES,
    "SWEEP": """LOAD plate FROM 'datasets/plate.pgm'; GENERATE rod AS constant(50, value = 2); GENERATE g AS noise(20, 20);
GENERATE w AS gaussian(nx = 60, width = 4, fields = 'u,v', fill = 'u,v'); GENERATE speed AS constant(60, value = 0.3);""",
}
failures = []


def run(script, folder):
    return subprocess.run([LACIS, "--mode", "csv", "-f", "-"], input=script, cwd=folder, capture_output=True, text=True,
                          timeout=100)


def rows(statement):
    done = subprocess.run([LACIS, "--mode", "csv", "-c", statement], capture_output=True, text=True, check=True)
    return list(csv.DictReader(done.stdout.splitlines()))


def try_all(name, script):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(SOURCE / "datasets", pathlib.Path(folder) / "datasets")
        done = run(script, folder)
    if done.returncode != 0:
        failures.append(f"{name}: {done.stderr}")


def examples_of(text):
    """Statements as .help shows them: a line that stands in by two, what continues it further in, up to the ;"""
    return [re.sub(r"\n +", " ", found) for found in re.findall(r"^  (?=[A-Z])(?:(?:(?!  ).)*[^;\n]\n    +)*(?:(?!  ).)*;$", text, re.M)]


def shown(topic):
    text = subprocess.run([LACIS, "-c", f".help {topic}"], capture_output=True, text=True, check=True).stdout
    long = [line for line in text.splitlines() if len(line) > 80]
    if long:
        failures.append(f".help {topic}: wider than 80 columns: {long}")
    return text


def check_words():
    """Each word that a statement begins with has its forms and examples."""
    statements = subprocess.run([LACIS, "-c", ".help statements"], capture_output=True, text=True, check=True).stdout
    words = set(re.findall(r"(?:^|;  )([A-Z]{3,})\b", statements, re.M))
    assert {"LOAD", "PLOT", "EXPLAIN", "SET", "TUNE", "SHOW", "LET", "CREATE", "SAVE"} <= words, words
    for word in words:
        done = subprocess.run([LACIS, "-c", f".help {word.lower()}"], capture_output=True, text=True)
        if done.returncode != 0 or word not in done.stdout:
            failures.append(f".help {word}: {done.stdout}{done.stderr}")


def main():
    check_words()
    listed = subprocess.run([LACIS, "-c", ".help"], capture_output=True, text=True, check=True).stdout
    topics = re.findall(r"^\.help ([a-z]+) ", listed, re.M)
    for name in re.findall(r"^(\.[a-z]+) ", listed, re.M):
        shown(name)
    with_examples = 0
    for topic in topics:
        examples = examples_of(shown(topic))
        with_examples += len(examples) >= 4
        try_all(f".help {topic}", "\n".join(examples))
    assert with_examples >= 9, f"examples were not understood: {topics}"
    for operator in rows("SHOW OPERATORS"):
        verb = operator["verb"]
        examples = [row["details"] for row in rows(f"SHOW OPERATOR {verb}") if row["part"] == "example"]
        if [f"{example};" for example in examples] != [e.strip() for e in examples_of(shown(verb))]:
            failures.append(f".help {verb} does not show {examples}")
        if not examples or verb not in SET_UP:
            failures.append(f"{verb}: no examples, or no arrays for them here")
            continue
        for example in examples:
            try_all(f".help {verb}: {example}", f"{SET_UP[verb]}\n{example.replace(' ON GPU', '')};")
    print("\n".join(failures) or "all examples run")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
