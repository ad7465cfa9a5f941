#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SOLVE prints the same bytes on any number of ranks, names the same bad lane, and was dealt."""
import sys

from ranks import good, run, run_all

BATCHES = """
GENERATE s AS tridiagonal(40, 300, layout = 'block(16)', shapes = 5);
GENERATE t AS trees(4, 50, 9, 200, shared = 'offdiagonals', layout = 'full');
GENERATE m AS tridiagonal(25, 1);
GENERATE r AS tridiagonal(25, 500, layout = 'full');
"""
WORK = """
SOLVE s STATUS RESIDUAL;
LET x = SOLVE t LAYOUT block(8);
SELECT lane, row, value FROM x WHERE lane % 7 = 3;
LET y = SOLVE m BY r RESIDUAL;
SELECT * FROM y WHERE row = 11;
CREATE VIEW v AS SOLVE t;
SELECT count(*), sum(value), min(value), max(value) FROM v;
SELECT row, value FROM v WHERE lane BETWEEN 90 AND 120;
LET z = SOLVE t BY (SOLVE t BY x);
SELECT count(*), sum(value) FROM z;
"""
BAD = """
LET w = SELECT lane, row, a, CASE WHEN lane IN (33, 120, 260) AND row = 5 THEN 0.1 ELSE b END AS b, c, d FROM s;
LET x = SOLVE w;
"""


def same_on_any_count():
    alone = good(0, BATCHES + WORK)
    for ranks in (1, 2, 3, 5):
        assert good(ranks, "SET ranks = all;" + BATCHES + WORK) == alone, f"{ranks} ranks print something else"
    return f"{len(alone.splitlines())} lines"


def the_same_bad_lane():
    for ranks in (2, 4):
        code, _, err = run(ranks, "SET ranks = all;" + BATCHES + BAD)
        assert code == 1 and "lane 33, row 5 is not diagonally dominant" in err, err


def it_was_dealt():
    analyzed = good(3, "SET ranks = all;" + BATCHES + "EXPLAIN ANALYZE SOLVE s; EXPLAIN ANALYZE SOLVE m BY r;")
    assert analyzed.count("  ranks 3\n") == 2 and analyzed.count("* ranks on CPU") == 2, analyzed
    assert "each holds the matrix, right sides come with their piece" in analyzed, analyzed


if __name__ == "__main__":
    sys.exit(run_all([same_on_any_count, the_same_bad_lane, it_was_dealt]))
