#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 at 100 random moments of LOAD, GENERATE, LET and SAVE on a database file: what opens afterwards is a state
that was committed, whole, and not older than the last one that the program told of.   kill.py LACIS"""
import os
import random
import subprocess
import sys
import tempfile
import time

from program import Program, run_all

LACIS = Program(sys.argv[1])
KILLS = 100
STATES = 6  # what round k writes depends on k modulo this
SUMS = "SELECT count(*), total(src), total(dst), total(value) FROM "


def source(state):
    """Statements that make g in this state: small from a file, or of several chunks (4 MiB each)."""
    if state % 2 == 0:
        return f"LOAD g FROM 'g{state}.txt'"
    return f"GENERATE g AS uniform(n = {120000 + state}, degree = 9, seed = {state})"


def whole_round(k):
    """One transaction around all of a round."""
    state = k % STATES
    return (f"BEGIN; {source(state)}; LET h = SELECT dst AS src, src AS dst FROM g WHERE src < 2000;"
            f"UPDATE round SET k = {k}; COMMIT; SELECT 'told', {k};\n")


def loose_round(k):
    """Each statement is a transaction of its own."""
    state = k % STATES
    return f"{source(state)}; UPDATE round SET k = {k}; SELECT 'told', {k}; SAVE g TO 'out.txt';\n"


def make_files(folder):
    for state in range(0, STATES, 2):
        with open(os.path.join(folder, f"g{state}.txt"), "w", encoding="ascii") as file:
            for i in range(3000 + state):
                file.write(f"{i} {(i * 7 + state) % 3000} {i + state}\n")


def expected_sums(folder):
    """What g, h and out.txt are in each state, computed in memory."""
    sums = []
    for state in range(STATES):
        rows = LACIS.good(f"{source(state)}; {SUMS} g; LET h = SELECT dst AS src, src AS dst FROM g WHERE src < 2000;"
                          f"{SUMS} h;", folder=folder)
        sums.append((rows[1], rows[3]))
    return sums


def killed_run(folder, first, line, pace):
    """Starts rounds from `first` on, kills them within the time of some; the last round that was told, or None."""
    with open(os.path.join(folder, "script.lacis"), "w", encoding="ascii") as file:
        file.writelines(line(k) for k in range(first, first + 500))
    child = subprocess.Popen([LACIS.path, "--mode", "csv", "-f", "script.lacis", "d.lacis"], cwd=folder, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    time.sleep(random.uniform(0, 3 * pace))
    child.kill()
    out, _ = child.communicate(timeout=60)
    assert child.returncode == -9, f"it ended by itself: {child.returncode}"
    told = [text.split(",")[1] for text in out.splitlines() if text.startswith("told,")]
    return int(told[-1]) if told else None


def check(folder, told, sums, whole):
    """Reads all arrays (which compares the checksums of their chunks); the round that the database is at."""
    rows = LACIS.good(f"SELECT k FROM round; {SUMS} g; {SUMS} h; PRAGMA integrity_check;"
                      "SELECT count(*) FROM lacis_chunk WHERE array_id NOT IN (SELECT id FROM lacis_array);",
                      "d.lacis", folder=folder)
    k, g, h = int(rows[1][0]), rows[3], rows[5]
    assert rows[7] == ["ok"], rows[7]
    assert rows[9] == ["0"], f"{rows[9][0]} chunks belong to nothing"
    assert told is None or k >= told, f"round {told} was told, but the database is at {k}"
    assert g == sums[k % STATES][0] or (not whole and g == sums[(k + 1) % STATES][0]), f"round {k}: g is {g}"
    if whole:
        assert h == sums[k % STATES][1], f"round {k}: h is {h}"
    return k


def check_saved(folder, sums):
    path = os.path.join(folder, "out.txt")
    if not os.path.exists(path):
        return
    rows = LACIS.good(f"LOAD o FROM 'out.txt'; {SUMS} o;", folder=folder)
    assert rows[1] in [g for g, _ in sums], f"out.txt is not whole: {rows[1]}"


def killed_a_hundred_times():
    random.seed(11)
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder)
        sums = expected_sums(folder)
        k, advanced = 0, 0
        LACIS.good("CREATE TABLE round(k); INSERT INTO round VALUES (0);", "d.lacis", folder=folder)
        began = time.time()
        LACIS.good(whole_round(1) + whole_round(0), "d.lacis", folder=folder)
        pace = (time.time() - began) / 2
        for i in range(KILLS):
            whole = i % 2 == 0
            if whole:  # h is what the loose rounds before left
                LACIS.good(whole_round(k), "d.lacis", folder=folder)
            told = killed_run(folder, k + 1, whole_round if whole else loose_round, pace)
            before, k = k, check(folder, told, sums, whole)
            advanced += k - before
            check_saved(folder, sums)
        assert advanced > KILLS / 4, f"only {advanced} rounds were committed: killed too soon to tell"
        return f"{KILLS} kills, {advanced} rounds"


if __name__ == "__main__":
    sys.exit(run_all([killed_a_hundred_times]))
