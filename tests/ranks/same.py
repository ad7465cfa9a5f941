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

# Lanes of a cell, of several, with parameters of their own. All digits are printed: the bits are the same.
CELLS = """
GENERATE cell AS cable(length = 500, diameter = 2, branches = 2, branch_diameter = 1.2);
LET p = WITH RECURSIVE k(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < 60)
    SELECT i AS lane, 0.8 + 0.01 * i AS cm, -65.0 + 0.1 * i AS v, 0.01 * i AS amplitude FROM k;
LET q = SELECT column1 AS cell, column2 AS node, column3 AS g FROM (VALUES (1, 2, 0.01), (2, 3, 0.002));
LET three = SELECT k.column1 AS cell, id, type, x * k.column2 AS x, y, z, radius, parent FROM cell,
    (VALUES (0, 1.0), (1, 5.0), (2, 2.0)) AS k ORDER BY 1, id;
"""
SIMULATIONS = """
SIMULATE cell DT 0.025 STEPS 200 CLAMP soma 0.1 FROM 1 TO 3 LANES 77 PROBE soma PROBE 'dend[1](1)' EVERY 40;
SIMULATE cell DT 0.025 STEPS 200 HH CLAMP soma 0.3 FROM 1 TO 3 LANES 50 PROBE soma REDUCE max;
SIMULATE cell DT 0.025 STEPS 200 HH CLAMP soma 0.3 FROM 1 TO 3 PARAMETERS p PROBE soma REDUCE spikes;
SIMULATE three DT 0.05 STEPS 100 METHOD crank_nicolson CLAMP soma 0.1 FROM 1 TO 3 PARAMETERS p PROBE soma EVERY 50;
SIMULATE three DT 0.05 STEPS 100 CLAMP soma 0.1 FROM 1 TO 3 NODES q LANES 9 PROBE soma REDUCE min;
CREATE VIEW w AS SIMULATE three DT 0.05 STEPS 100 LANES 9 PROBE soma REDUCE mean;
SELECT lane, v FROM w WHERE lane > 20;
SELECT count(*), min(v), max(v) FROM w;
"""


def same(script, counts):
    alone = good(0, script)
    for ranks in counts:
        assert good(ranks, "SET ranks = all;" + script) == alone, f"{ranks} ranks print something else"
    return f"{len(alone.splitlines())} lines"


def same_on_any_count():
    return same(GRAPHS + WORK, (1, 2, 3, 5))


def lanes_on_any_count():
    return same(CELLS + SIMULATIONS, (2, 3, 5))


def lanes_were_dealt():
    analyzed = good(3, "SET ranks = all;" + CELLS + "EXPLAIN ANALYZE SIMULATE cell DT 0.025 STEPS 9 LANES 200 PROBE soma;")
    assert "  ranks 3\n" in analyzed and "* ranks on CPU" in analyzed, analyzed
    assert "ranks: 3; lanes in pieces of about equal compartments, 8 a rank" in analyzed, analyzed


def it_was_dealt():
    analyzed = good(3, "SET ranks = all;" + GRAPHS + "EXPLAIN ANALYZE MULTIPLY g BY g CON nil AGG count;")
    assert "  ranks 3\n" in analyzed and "* ranks on CPU" in analyzed, analyzed
    assert "ranks: 3; rows of a in pieces of about equal products, 8 a rank" in analyzed, analyzed


def small_work_stays():
    explained = good(3, CELLS + "EXPLAIN SIMULATE cell DT 0.025 STEPS 9 LANES 20 PROBE soma;")
    assert "- ranks on CPU: cannot: too little work" in explained, explained
    explained = good(3, GRAPHS + "EXPLAIN MULTIPLY m BY m WHERE src < 3;")
    assert "- ranks on CPU: cannot: too little work" in explained, explained
    assert "* rows on CPU" in explained, explained


if __name__ == "__main__":
    sys.exit(run_all([same_on_any_count, it_was_dealt, lanes_on_any_count, lanes_were_dealt, small_work_stays]))
