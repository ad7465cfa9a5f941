#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""However rank 0 ends, all ranks end with it; and nobody waits at full speed."""
import os
import shutil
import signal
import sys
import tempfile
import time

from ranks import LACIS, open_mpi, processes, run, run_all, start

LONG = "SET ranks = all; SET threads = 1; GENERATE g AS rmat(scale = 16, edge_factor = 16, seed = 3);"
WORK = "LET a = MULTIPLY g BY g CON s * a + t AGG max TOP 3;"


def at_work(ranks):
    """A session that waits for more statements, all its ranks by number."""
    mpirun = start(ranks, "--mode", "csv", "-f", "-")
    found = {}
    deadline = time.monotonic() + 30
    while not found and time.monotonic() < deadline:
        time.sleep(0.05)
        found = processes(mpirun, ranks)
    assert found, "the ranks did not start"
    return mpirun, found


def ended(mpirun, found, within):
    """Exit code, stdout and stderr of mpirun, all of whose ranks are gone."""
    out, err = mpirun.communicate(timeout=within)
    deadline = time.monotonic() + 5
    while any(os.path.exists(f"/proc/{process}") for process in found.values()):
        assert time.monotonic() < deadline, "a rank is still there"
        time.sleep(0.05)
    return mpirun.returncode, out, err


def an_error_in_the_script():
    script = "SELECT 1 AS x; SET ranks = all; GENERATE k AS complete(n = 40);\n{}; SELECT 2 AS y;"
    for wrong in ("SELECT * FROM nowhere", "LET x = MULTIPLY k BY k CON 9223372036854775807 * (c + 1) AGG max"):
        alone = run(0, script.format(wrong))
        code, out, err = run(3, script.format(wrong))
        assert (code, out) == (1, alone[1]), (code, out, err)
        place = alone[2].split("(")[-1].split("\n", 1)[1]  # behind the summary of k, whose time differs
        assert place in err and err.count("error:") == 1, err


def wrong_usage():
    code, out, err = run(3, "", "--nonsense")
    assert code == 2 and out == "" and err.count("--nonsense") == 1, (code, out, err)


def without_the_module():
    if not open_mpi():
        return "only looked at with Open MPI"
    with tempfile.TemporaryDirectory() as folder:
        alone = shutil.copy(LACIS, folder)
        code, _, err = run(2, "SELECT 1;", program=alone)
        if code == 0:
            return "an installed module was found"
        assert code == 3 and err.count("liblacis_ranks.so cannot be loaded") == 1, (code, err)
    return None


def waiting_ranks_sleep():
    mpirun, found = at_work(3)
    mpirun.stdin.write("SELECT 1;\n")
    mpirun.stdin.flush()
    time.sleep(0.7)
    ticks = lambda: sum(sum(map(int, open(f"/proc/{found[rank]}/stat", encoding="utf-8").read().rsplit(")", 1)[1]
                                .split()[11:13])) for rank in (1, 2))
    before = ticks()
    time.sleep(1.5)
    share = (ticks() - before) / os.sysconf("SC_CLK_TCK") / 1.5 / 2
    mpirun.stdin.close()
    mpirun.stdin = None
    code, _, err = ended(mpirun, found, 30)
    assert code == 0, err
    assert share < 0.25, f"a waiting rank takes {share:.0%} of a processor"
    return f"{share:.1%} of a processor"


def computing():
    mpirun, found = at_work(3)
    mpirun.stdin.write(LONG + "\n" + WORK * 40)
    mpirun.stdin.close()
    mpirun.stdin = None
    time.sleep(1.2)
    return mpirun, found


def a_rank_is_killed():
    mpirun, found = computing()
    os.kill(found[2], signal.SIGKILL)
    code, _, err = ended(mpirun, found, 30)
    assert code not in (0, None), err
    return f"exit {code}"


def rank_0_is_killed():
    mpirun, found = computing()
    os.kill(found[0], signal.SIGKILL)
    code, _, err = ended(mpirun, found, 30)
    assert code not in (0, None), err


def interrupted():
    """mpirun passes Ctrl-C on as SIGTERM, and ends with a code of its own."""
    mpirun, found = computing()
    mpirun.send_signal(signal.SIGINT)
    code, _, err = ended(mpirun, found, 30)
    assert code != 0 and "error: interrupted" in err, (code, err)


def terminated():
    mpirun, found = computing()
    os.kill(found[0], signal.SIGTERM)
    code, _, err = ended(mpirun, found, 30)
    assert code == 130 and "error: interrupted" in err, (code, err)


if __name__ == "__main__":
    sys.exit(run_all([waiting_ranks_sleep], together=[a_rank_is_killed, rank_0_is_killed, interrupted, terminated,
                                                      an_error_in_the_script, wrong_usage, without_the_module]))
