#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A script prints the same bytes, once, on any number of ranks."""
import sys

from ranks import good, run_all

GRAPHS = """
GENERATE g AS rmat(scale = 10, edge_factor = 8, seed = 3, weights = int);
GENERATE h AS rmat(scale = 10, edge_factor = 6, seed = 5, weights = real);
GENERATE m AS uniform(n = 1024, degree = 40, seed = 1);
"""
WORK = """
MULTIPLY g BY g CON nil AGG count WHERE src < 20;
MULTIPLY g BY h CON a + b AGG min TOP 2;
MULTIPLY g BY h CON a * b AGG sum MASK m;
MULTIPLY h BY g CON a * b + s - t + c AGG max MASK NOT m HAVING value > 1500 AND src <> dst TOP 3;
MULTIPLY g BY g CON a * b AGG (x, y) -> x + 3 * y IDENTITY 0 WHERE src IN (1, 5, 77, 300);
MULTIPLY g BY h CON b AGG avg WHERE src % 17 = 3;
CREATE VIEW v AS MULTIPLY h BY g CON a * b AGG sum;
SELECT src, dst, value FROM v WHERE src = 12 AND dst > 100 ORDER BY value DESC LIMIT 5;
SELECT count(*), sum(src), min(value), max(value) FROM v;
LET p = POWER m TO 3 CON nil AGG count;
SELECT count(*), sum(value) FROM p;
LET twice = MULTIPLY (MULTIPLY g BY g CON nil AGG count TOP 5) BY g CON a * b AGG sum;
SELECT count(*), sum(value), sum(dst) FROM twice;
"""


def same_on_any_count():
    alone = good(0, GRAPHS + WORK)
    for ranks in (1, 2, 3, 5):
        assert good(ranks, "SET ranks = all;" + GRAPHS + WORK) == alone, f"{ranks} ranks print something else"
    return f"{len(alone.splitlines())} lines"


def it_was_dealt():
    analyzed = good(3, "SET ranks = all;" + GRAPHS + "EXPLAIN ANALYZE MULTIPLY g BY g CON nil AGG count;")
    assert "  ranks 3\n" in analyzed and "* ranks on CPU" in analyzed, analyzed
    assert "ranks: 3; rows of a in pieces of about equal products, 8 a rank" in analyzed, analyzed


def small_work_stays():
    explained = good(3, GRAPHS + "EXPLAIN MULTIPLY m BY m WHERE src < 3;")
    assert "- ranks on CPU: cannot: too little work" in explained, explained
    assert "* rows on CPU" in explained, explained


if __name__ == "__main__":
    sys.exit(run_all([same_on_any_count, it_was_dealt, small_work_stays]))
