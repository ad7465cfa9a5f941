#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where b does not fit the other ranks' memory it goes round in blocks of rows, and the entries are the same."""
import sys

from ranks import good, run, run_all

GRAPHS = """
SET threads = 1;
GENERATE g AS uniform(n = 16000, degree = 8, seed = 3, weights = int);
GENERATE m AS uniform(n = 16000, degree = 4, seed = 1);
"""
WORK = """
CREATE VIEW a AS MULTIPLY g BY g CON a * 3 - b AGG sum;
CREATE VIEW b AS MULTIPLY g BY g CON a * 0.25 + b AGG max TOP 2;
CREATE VIEW c AS MULTIPLY g BY g CON s - t + a AGG min MASK NOT m HAVING value > 9000 AND src <> dst;
SELECT count(*), sum(value), sum(dst) FROM a;
SELECT count(*), sum(dst), min(value), max(value) FROM b;
SELECT count(*), sum(value), sum(dst) FROM c;
SELECT src, dst, value FROM b WHERE src < 300;
"""
SHORT = "SET ranks = all; SET ranks_memory_limit = '5 MB';"


def the_same_entries():
    alone = good(0, GRAPHS + WORK)
    for ranks in (2, 3):
        assert good(ranks, SHORT + GRAPHS + WORK) == alone, f"{ranks} ranks print something else"


def blocks_it_was():
    analyzed = good(2, SHORT + GRAPHS + "EXPLAIN ANALYZE MULTIPLY g BY g CON a * 3 - b AGG sum;")
    assert "  blocks of b " in analyzed, analyzed


def only_where_exact():
    code, _, err = run(2, SHORT + GRAPHS + "LET x = MULTIPLY g BY g CON a * 0.5 AGG sum;")
    assert code == 1 and "parts combine exactly only for count, min, max and sums of integers" in err, err


if __name__ == "__main__":
    sys.exit(run_all([the_same_entries, blocks_it_was, only_where_exact]))
