#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A session on a database file under valgrind, with all kinds of statements and failures: no error, nothing lost.
Skipped where valgrind is missing or the program has a checker of its own built in.   valgrind.py LACIS SOURCE"""
import os
import shutil
import subprocess
import sys
import tempfile

from program import Program, skip

SESSION = """
LOAD e FROM '{source}/datasets/friends.txt' WITH (directed = false, duplicates = 'count');
LOAD w FROM 'w.txt.gz';
GENERATE g AS uniform(60, 4, seed = 2);
CREATE VIEW f AS MULTIPLY g BY g CON nil AGG count;
SELECT count(*), sum(value) FROM f;
SELECT * FROM f WHERE src = 3 ORDER BY value DESC LIMIT 4;
LET h = MULTIPLY g BY g CON a + b AGG min;
LET k = MULTIPLY g BY g CON a + s AGG (x, y) -> CASE WHEN x < y THEN x ELSE y END IDENTITY 1000000;
LET p = POWER g TO 3;
LET r = SELECT src, dst, value FROM h WHERE value > 1;
LET v = SELECT src AS i, count(*) AS value FROM g GROUP BY src;
MULTIPLY v BY g;
SELECT count(*) FROM h JOIN k USING (src, dst);
MULTIPLY g BY g TOP 2 HAVING value > 0;
EXPLAIN ANALYZE MULTIPLY g BY g CON nil AGG count;
SHOW OPERATORS;
SHOW LOADERS;
SAVE h TO 'h.mtx';
SAVE f TO 'f.csv';
SAVE v TO 'v.npy';
SAVE v TO 'v.jsonl';
LOAD h2 FROM 'h.mtx';
LOAD v2 FROM 'v.npy';
BEGIN; DROP h; ROLLBACK;
BEGIN; LET z = MULTIPLY g BY g; COMMIT;
SET threads = 1;
.schema
.mode box
SELECT * FROM h LIMIT 5;
.bail off
SELECT * FROM nothing;
LOAD x FROM 'nothing';
LOAD x FROM 'bad.mtx';
LOAD x FROM 'cut.gz';
MULTIPLY g BY nothing;
CREATE VIEW gg AS MULTIPLY gg BY gg;
SAVE g TO 'no/where.csv';
LET x = SELECT 'text' AS src, 1 AS dst;
MULTIPLY g BY g CON nope;
SELECT 'end' AS "end";
"""
FAILURES = 9
COMMAND = ["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite,indirect",
           "--errors-for-leak-kinds=definite,indirect", "--error-exitcode=99"]


def has_checker(path):
    with open(path, "rb") as file:
        return b"__asan_init" in file.read()


def make_inputs(folder):
    text = "".join(f"{i * i} {i + 7} {i}.25\n" for i in range(500)).encode()
    packed = subprocess.run(["gzip", "-c"], input=text, stdout=subprocess.PIPE, check=True).stdout
    for name, data in (("w.txt.gz", packed), ("cut.gz", packed[:len(packed) // 2]),
                       ("bad.mtx", b"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n9 9 9\n")):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)


def main():
    lacis, source = Program(sys.argv[1]), sys.argv[2]
    if shutil.which("valgrind") is None:
        skip("valgrind is not installed")
    if has_checker(lacis.path):
        skip("the program is built with a checker of its own")
    with tempfile.TemporaryDirectory() as folder:
        make_inputs(folder)
        for database in ("d.lacis", "d.lacis", ":memory:"):  # new, reopened, none
            done = subprocess.run([*COMMAND, lacis.path, "--mode", "csv", "-f", "-", database], cwd=folder, text=True,
                                  input=SESSION.format(source=source), capture_output=True, timeout=500)
            assert done.returncode == 1, f"exit {done.returncode}: {done.stderr}"
            assert "│ end │" in done.stdout, done.stdout
            assert done.stderr.count("error: ") == FAILURES, done.stderr
            assert "==" not in done.stderr, done.stderr
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
