# SPDX-License-Identifier: Apache-2.0
"""Running lacis under mpirun: what the scripts beside this one share. Each is called SCRIPT LACIS MPIRUN MODULE."""
import concurrent.futures
import os
import signal
import subprocess
import sys
import time

SKIPPED = 77  # ctest's return code for a test that could not run
LACIS, MPIRUN, MODULE = sys.argv[1:4]


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(SKIPPED)


def launcher(ranks, *more):
    """mpirun for more ranks than processors, as root in a container, where one process may not read another's memory."""
    given = [MPIRUN, *more, "-n", str(ranks)]
    if open_mpi():
        given[1:1] = ["--oversubscribe", "--allow-run-as-root", "--bind-to", "none",
                      "--mca", "btl_vader_single_copy_mechanism", "none"]
    return given


def open_mpi():
    said = subprocess.run([MPIRUN, "--version"], capture_output=True, text=True, check=False)
    return "Open MPI" in said.stdout or "OpenRTE" in said.stdout


def start(ranks, *args, program=LACIS, **how):
    """The process of mpirun itself; its text goes through pipes. Signals reach it as at a terminal."""
    usual = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen([*launcher(ranks), program, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, preexec_fn=usual, **how)


def run(ranks, text, *args, program=LACIS):
    """A script on so many ranks, or (0) without mpirun: (exit code, stdout, stderr)."""
    if ranks == 0:
        done = subprocess.run([program, *args, "--mode", "csv", "-f", "-"], input=text, capture_output=True, text=True,
                              timeout=120, check=False)
        return done.returncode, done.stdout, done.stderr
    process = start(ranks, *args, "--mode", "csv", "-f", "-", program=program)
    out, err = process.communicate(text, timeout=120)
    return process.returncode, out, err


def good(ranks, text, *args):
    code, out, err = run(ranks, text, *args)
    assert code == 0, f"exit {code} on {ranks} ranks: {err}"
    return out


def processes(mpirun, ranks):
    """Process numbers of the ranks below that mpirun, by rank."""
    found = {}
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                parent = int(file.read().rsplit(")", 1)[1].split()[1])
            with open(f"/proc/{name}/environ", encoding="utf-8", errors="replace") as file:
                variables = dict(part.split("=", 1) for part in file.read().split("\0") if "=" in part)
        except (OSError, ValueError, IndexError):
            continue
        rank = variables.get("OMPI_COMM_WORLD_RANK", variables.get("PMI_RANK"))
        if parent == mpirun.pid and rank is not None:
            found[int(rank)] = int(name)
    return found if len(found) == ranks else {}


def run_all(tests, together=()):
    """One after the other; then `together`, which mostly wait, at once."""
    if not MPIRUN or MPIRUN.endswith("NOTFOUND"):
        skip("there is no mpirun here")
    if not MODULE:
        skip("lacis was built without MPI")
    def timed(test):
        began = time.monotonic()
        said = test()
        print(f"passed ({time.monotonic() - began:.1f} s): {test.__name__}{': ' + said if said else ''}", flush=True)

    for test in tests:
        timed(test)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(timed, together))
    return 0
