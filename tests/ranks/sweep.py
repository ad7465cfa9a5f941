#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SWEEP prints the same bytes on any number of ranks: odd sizes, every edge, blocked in time or not, overlapped or not;
UNTIL stops at the same step, a run goes on from its files on other ranks, and however a rank ends, all do."""
import os
import pathlib
import signal
import sys
import tempfile
import time

from ranks import good, processes, run, run_all, start

GRIDS = """
GENERATE one AS noise(331, seed = 3);
GENERATE two AS noise(101, 83, seed = 4);
GENERATE f AS noise(101, 83, seed = 5, type = 'f32');
GENERATE three AS noise(67, 33, 11, seed = 6);
GENERATE k AS noise(101, 83, seed = 7);
LET side = SELECT y AS x, value FROM two WHERE x = 3;
LET both = SELECT two.x AS x, two.y AS y, two.value AS u, k.value AS v FROM two JOIN k ON two.x = k.x AND two.y = k.y;
"""
FIVE = "(u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) / 4"
NINE = "(4 * (u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) + u[-1,-1] + u[1,-1] + u[-1,1] + u[1,1]) / 20"
SEVEN = "(u[-1,0,0] + u[1,0,0] + u[0,-1,0] + u[0,1,0] + u[0,0,-1] + u[0,0,1]) / 6"
EDGES_2 = ["fixed", "clamp", "periodic", "mirror", "x periodic EDGE bottom fixed 1 EDGE top neumann 0.5",
           "y periodic EDGE left robin 1 2 0.5 EDGE right mirror", "left fixed side EDGE right fixed 0.25 EDGE y periodic"]
CALLS = (
    [f"SWEEP one STEP u + 0.2 * (u[-1] - 2 * u + u[1]) STEPS 13 EDGE {e}"
     for e in ("fixed", "periodic", "left fixed 1 EDGE right neumann 0.1")]
    + [f"SWEEP one STEP 0.25 * u + 0.5 * u[-4] + 0.25 * u[3] STEPS 9 EDGE {e}" for e in ("mirror", "periodic")]
    + [f"SWEEP two STEP {FIVE} STEPS 14 EDGE {e}" for e in EDGES_2]
    + [f"SWEEP two STEP {NINE} STEPS 11 EDGE {e}" for e in EDGES_2[2:]]
    + [f"SWEEP f STEP {FIVE} STEPS 17 EDGE {e}" for e in ("fixed", "periodic")]
    + [f"SWEEP f STEP u[-2,1] * 0.3 + u[2,-1] * 0.3 + u * 0.4 STEPS 8 EDGE {e}" for e in ("clamp", "periodic")]
    + [f"SWEEP three STEP {SEVEN} STEPS 10 EDGE {e}" for e in ("fixed", "periodic", "z periodic EDGE x clamp")]
    + ["SWEEP two STEP u + c * (u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4 * u) STEPS 10 COEFF c = k EDGE clamp",
       "SWEEP two STEP c[1,1] * u[-1,0] + 0.25 * c[-1,0] STEPS 10 COEFF c = k SOURCE k EDGE periodic",
       "SWEEP both STEP u = 2 * u - v + 0.2 * (u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4 * u), v = u STEPS 12 EDGE mirror",
       "SWEEP two STEP u * (1 - u[1,0]) + 0.001 * x - 0.002 * y + 0.01 * t STEPS 9 EDGE clamp",
       f"SWEEP two STEP {FIVE} STEPS 200 UNTIL max < 0.01 EVERY 7 EDGE clamp",
       f"SWEEP two STEP {FIVE} STEPS 200 UNTIL l2 < 0.5 EDGE periodic",
       f"SWEEP f STEP {FIVE} STEPS 60 UNTIL l2 < 0.4 EVERY 3 EDGE fixed 0"])


def work(clauses=""):
    """All calls, each with clauses more."""
    five = "(u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) / 4"
    return "".join(f"{call} {clauses};\n" for call in CALLS) + f"""
LET c = SWEEP two STEP {five} STEPS 30 CHANGE EVERY 4 {clauses};
SELECT * FROM c_change;
CREATE VIEW v AS SWEEP two STEP {five} STEPS 5 EDGE periodic {clauses};
SELECT count(*), sum(value), min(value) FROM v;
"""


WORK = work()
LONG = "SET ranks = all; SET threads = 1; GENERATE g AS noise(700, 700, seed = 1);"
LONG_CALL = f"SWEEP g STEP {FIVE} STEPS 1000000 EDGE clamp;"


def same_on_any_count():
    alone = good(0, GRIDS + WORK)
    for ranks in (1, 2, 3, 4, 6):
        assert good(ranks, "SET ranks = all;" + GRIDS + WORK) == alone, f"{ranks} ranks print something else"
    return f"{len(alone.splitlines())} lines"


def same_however_exchanged():
    """Depths of halos, and exchanges that are waited for or overlapped."""
    alone = good(0, GRIDS + WORK)
    ways = [(1, "sync", 4), (1, "async", 3), (1, "async", 6), (2, "async", 4), (3, "sync", 6), (3, "async", 2)]
    for deep, exchange, ranks in ways:
        text = good(ranks, "SET ranks = all;" + GRIDS + work(f"EXCHANGE {exchange} EVERY {deep} BY copy"))
        assert text == alone, f"{ranks} ranks print something else with halos {deep} deep, {exchange}"


def fewer_parts():
    """PARTS takes fewer ranks than there are, with the same bits; one part is rank 0's."""
    alone = good(0, GRIDS + WORK)
    assert good(4, "SET ranks = all;" + GRIDS + work("PARTS 3")) == alone
    for parts, text in ((2, "a grid of 2 x 1 x 1"), (3, "a grid of 3 x 1 x 1"), (9, "a grid of 2 x 2 x 1")):
        analyzed = good(4, f"SET ranks = all; {GRIDS} EXPLAIN ANALYZE SWEEP two STEP {FIVE} STEPS 20 PARTS {parts};")
        assert text in analyzed and f"  pieces {min(parts, 4)}\n" in analyzed, analyzed
    one = good(4, f"{GRIDS} EXPLAIN SWEEP two STEP {FIVE} STEPS 20 PARTS 1;")
    assert "ranks on CPU: cannot: PARTS leaves it to one" in one, one


def a_timeline():
    """A line of each part and exchange, whose times are those of the statement; what cannot be written is told."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "times.csv"
        call = f"LET r = SWEEP two STEP {FIVE} STEPS 22 EXCHANGE async EVERY 2 TO "
        began = time.monotonic()
        good(4, f"SET ranks = all; {GRIDS} {call} '{path}';")
        took = time.monotonic() - began
        head, *lines = path.read_text().splitlines()
        assert head == "part,exchange,pack,centre,wait,unpack,rest,bytes", head
        rows = [[float(value) for value in line.split(",")] for line in lines]
        assert sorted((row[0], row[1]) for row in rows) == [(p, e) for p in range(4) for e in range(11)], lines
        assert all(value >= 0 for row in rows for value in row) and all(row[7] > 0 for row in rows), lines
        assert all(0 < sum(sum(row[2:7]) for row in rows if row[0] == p) < took for p in range(4)), (took, lines)
        wrong = call.replace("STEPS 22", "STEPS 1000000000") # an error before the first of them
        code, out, err = run(4, f"SET ranks = all; {GRIDS} {wrong} '{folder}/nowhere/times.csv';")
        assert (code, out) == (1, "") and "nowhere/times.csv" in err and "No such file" in err, (code, out, err)
        few = "SET ranks = all; SET ranks_memory_limit = '3MB';" + GRIDS
        assert good(4, f"{few} {call} '{path}'; SELECT sum(value) FROM r;") == good(0, f"{GRIDS} {call} '{path}-';"
                                                                                    "SELECT sum(value) FROM r;")
        code, out, err = run(4, few + call.replace("STEPS 22", "STEPS 70000") + f"'{path}';")
        assert code == 1 and "do not fit the memory of every rank" in err, (code, out, err)


def what_means_nothing_is_told():
    for clause, what in (("EXCHANGE sync", "EXCHANGE means nothing"), ("PARTS 4", "PARTS means nothing")):
        code, _, err = run(0, f"{GRIDS} LET r = SWEEP two STEP {FIVE} STEPS 9 {clause};")
        assert code == 0 and "the grid was not cut over ranks or GPUs" in err and what in err, (clause, code, err)
    for clause in ("", "PARTS 1"):
        code, _, err = run(0, f"{GRIDS} LET r = SWEEP two STEP {FIVE} STEPS 9 {clause};")
        assert code == 0 and "not cut" not in err, (clause, code, err)
    for way, told in (("copy", True), ("host", True), ("kernel", False)):
        code, _, err = run(2, f"SET ranks = all; {GRIDS} LET r = SWEEP two STEP {FIVE} STEPS 9 EXCHANGE BY {way};")
        assert code == 0 and (f"BY {way} is for borders on ranks' GPUs" in err) == told, (way, code, err)


def it_was_dealt():
    analyzed = good(6, "SET ranks = all;" + GRIDS + f"EXPLAIN ANALYZE SWEEP two STEP {FIVE} STEPS 20 LEVELS 2;")
    assert "  ranks 6\n" in analyzed and "* ranks on CPU" in analyzed, analyzed
    assert "ranks: a grid of 3 x 2 x 1; halos of 2 x 2 x 0 cells, exchanged every 2 steps" in analyzed, analyzed
    assert "exchanges, ranks together 60\n" in analyzed.replace('"', ""), analyzed
    small = good(2, GRIDS + f"EXPLAIN SWEEP two STEP {FIVE} STEPS 20;")
    assert "ranks on CPU: cannot: too little work" in small, small


def thin_shares_are_refused():
    code, out, err = run(4, "SET ranks = all; GENERATE g AS noise(40, 29, seed = 1);"
                         f"SWEEP g STEP {FIVE} STEPS 40 LEVELS 10;")
    assert code == 1 and out == "", (code, out[:200])
    assert "40 x 29 cells in 4 parts: shares of 8 cells along x are thinner than their halo of 10" in err, err
    code, out, err = run(3, "SET ranks = all; GENERATE g AS noise(40, 29, seed = 1);"
                         f"SWEEP g STEP {FIVE} STEPS 40 EXCHANGE EVERY 17;")
    assert code == 1 and out == "" and "thinner than their halo of 17" in err, (code, out[:200], err)
    assert "a smaller EVERY, or fewer PARTS" in err, err
    # Also where ranks are shared as is best: what was written is not left out for another variant.
    large = "SWEEP g STEP (u[-4,0] + u[4,0] + u[0,-4] + u[0,4]) / 4 STEPS 20000 CHANGE EVERY 20000 EXCHANGE EVERY "
    code, out, err = run(3, f"GENERATE g AS noise(400, 29, seed = 1); {large}60;")
    assert code == 1 and out == "" and "thinner than their halo of 240" in err, (code, out[:200], err)
    told = good(3, f"GENERATE g AS noise(400, 29, seed = 1); EXPLAIN {large}60;")
    assert "ranks on CPU: cannot: 400 x 29 cells in 3 parts" in told, told
    assert "ranks: EXCHANGE EVERY 60 is too deep, an error where the grid stays whole" in told, told
    code, out, err = run(3, "SET ranks = off; GENERATE g AS noise(40, 29, seed = 1);"
                         f"LET r = SWEEP g STEP {FIVE} STEPS 40 EXCHANGE EVERY 17;")
    assert code == 0 and "EXCHANGE means nothing" in err, (code, err)


def goes_on_elsewhere():
    """Files of a run on 4 ranks, and the run's rest on 3, alone, and on 2: the bits of one run."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "h_*.npy"
        call = "SWEEP {} STEP " + FIVE + " STEPS {} EDGE clamp"
        whole = good(0, GRIDS + call.format("two", 40) + ";").splitlines()
        kept = good(4, "SET ranks = all;" + GRIDS + call.format("two", 40) + f" KEEP EVERY 10 TO '{path}';").splitlines()
        assert kept == whole
        files = sorted(pathlib.Path(folder).iterdir())
        assert [file.name for file in files] == ["h_10.npy", "h_20.npy", "h_30.npy", "h_40.npy"], files
        for ranks, file, left in ((3, files[0], 30), (0, files[1], 20), (2, files[2], 10)):
            script = f"LOAD r FROM '{file}';" + call.format("r", left) + ";"
            assert good(ranks, ("SET ranks = all;" if ranks else "") + script).splitlines() == whole, file


def an_error_on_the_way():
    """A file that cannot be written, while the others wait for what comes next."""
    wrong = f"SWEEP two STEP {FIVE} STEPS 9 KEEP EVERY 4 TO '/nowhere/at/all/h_*.npy';"
    alone = run(0, GRIDS + wrong)
    code, out, err = run(4, "SET ranks = all;" + GRIDS + wrong)
    assert alone[0] == 1 and (code, out) == (1, ""), (alone[0], code, out[:200], err)
    place = alone[2].split("error:")[1].splitlines()[0]
    assert place in err and err.count("error:") == 1, (place, err)


# --- ends


def sweeping(ranks=3):
    mpirun = start(ranks, "--mode", "csv", "-f", "-")
    found = {}
    deadline = time.monotonic() + 30
    while not found and time.monotonic() < deadline:
        time.sleep(0.05)
        found = processes(mpirun, ranks)
    assert found, "the ranks did not start"
    mpirun.stdin.write(LONG + "\n" + LONG_CALL)
    mpirun.stdin.close()
    mpirun.stdin = None
    time.sleep(1.5)
    return mpirun, found


def ended(mpirun, found, within=30):
    out, err = mpirun.communicate(timeout=within)
    deadline = time.monotonic() + 5
    while any(os.path.exists(f"/proc/{process}") for process in found.values()):
        assert time.monotonic() < deadline, "a rank is still there"
        time.sleep(0.05)
    return mpirun.returncode, out, err


def a_rank_is_killed():
    mpirun, found = sweeping()
    os.kill(found[1], signal.SIGKILL)
    code, _, err = ended(mpirun, found)
    assert code not in (0, None), err


def terminated():
    mpirun, found = sweeping()
    os.kill(found[0], signal.SIGTERM)
    code, _, err = ended(mpirun, found)
    assert code == 130 and "error: interrupted" in err, (code, err)


def interrupted():
    mpirun, found = sweeping(4)
    mpirun.send_signal(signal.SIGINT)
    code, _, err = ended(mpirun, found)
    assert code != 0 and "error: interrupted" in err, (code, err)


if __name__ == "__main__":
    sys.exit(run_all([same_on_any_count, same_however_exchanged, fewer_parts, a_timeline, what_means_nothing_is_told, it_was_dealt, thin_shares_are_refused, goes_on_elsewhere,
                      an_error_on_the_way], together=[a_rank_is_killed, terminated, interrupted]))
