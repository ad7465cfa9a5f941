#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, pagers, closed pipes and full disks in scripts: signals.py LACIS."""
import os
import pty
import signal
import subprocess
import sys
import time

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT "
LACIS = os.path.abspath(sys.argv[1])


def start(*args, **how):
    how.setdefault("stdin", subprocess.DEVNULL)
    how.setdefault("stdout", subprocess.PIPE)
    return subprocess.Popen([LACIS, *args], stderr=subprocess.PIPE, text=True, **how)


def interrupted_statement():
    """130 at once, also with .bail off, and nothing that follows runs."""
    child = start("-c", ".bail off", "-c", "SELECT 1 AS a", "-c", ENDLESS + "count(*) FROM c", "-c", "SELECT 2 AS a")
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert child.returncode == 130, (child.returncode, err)
    assert out == "a\n1\n", out
    assert "interrupt" in err, err


def interrupted_waiting():
    """A script that waits for its input."""
    child = start(stdin=subprocess.PIPE)
    child.stdin.write("SELECT 1 AS a;\n")
    child.stdin.flush()
    assert child.stdout.readline() == "a\n"  # statements run as they come
    assert child.stdout.readline() == "1\n"
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=30) == 130
    child.communicate()


def pager():
    """Behind a pipe a pager may have the terminal: while it reads no more the bar keeps away."""
    screen, err = pty.openpty()
    reader, out = os.pipe()
    environment = {**os.environ, "TERM": "xterm"}
    child = subprocess.Popen([LACIS, "-c", ENDLESS + "x FROM c"], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                             env=environment)
    os.close(out)
    time.sleep(2.5)
    os.close(reader)
    assert child.wait(timeout=30) == -signal.SIGPIPE
    os.write(err, b"end")  # the pty is never empty: this read returns
    os.close(err)
    said = os.read(screen, 65536)
    os.close(screen)
    assert said == b"end", said


def closed_pipe():
    """`lacis ... | head` ends quietly."""
    child = start("-c", ENDLESS + "x FROM c")
    for _ in range(3):
        child.stdout.readline()
    child.stdout.close()
    child.stdout = None
    _, err = child.communicate(timeout=30)
    assert err == "", err
    assert child.returncode == -signal.SIGPIPE, child.returncode


def full_disk():
    """Results that cannot be written are an error, soon even in the middle of a long one."""
    if not os.path.exists("/dev/full"):
        return
    for statement in ("SELECT 1", ENDLESS + "x FROM c"):
        with open("/dev/full", "w", encoding="utf-8") as full:
            child = start("-c", statement, stdout=full)
            _, err = child.communicate(timeout=30)
        assert child.returncode == 1, child.returncode
        assert "cannot write to standard output: No space left on device" in err, err
    child = start("-c", ".once /dev/full", "-c", "SELECT 1")
    _, err = child.communicate(timeout=30)
    assert child.returncode == 1, child.returncode
    assert "cannot write to /dev/full: No space left on device" in err, err


def constant_memory():
    """Rows stream: a long csv result takes no more memory than a short one."""
    peaks = []
    for rows in (1000, 2000000):
        child = subprocess.Popen([LACIS, "--mode", "csv", "-c", f"{ENDLESS} x, x FROM c LIMIT {rows}"],
                                 stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                 env=dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=1"))
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        assert status == 0, status
        peaks.append(usage.ru_maxrss)
    assert peaks[1] < peaks[0] + 8192, peaks  # kB


if __name__ == "__main__":
    for test in (interrupted_statement, interrupted_waiting, pager, closed_pipe, full_disk, constant_memory):
        test()
        print(f"passed: {test.__name__}")
