#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in each long phase: a script ends with 130, a session at a terminal goes on, and either soon; what the
statement was writing is as it was before.   interrupts.py LACIS"""
import os
import pty
import random
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time

from program import Program, run_all, usual_interrupt

LACIS = Program(sys.argv[1])
SOON = 0.5  # seconds, in the middle of three tries: other programs may hold the machine
WAIT = (0.05, 0.15, 0.4)  # seconds into the phase
RMAT = "GENERATE g AS rmat(scale = {}, edge_factor = 16, seed = 1)"
VIEW = "CREATE VIEW f AS MULTIPLY g BY g CON nil AGG count"

PHASES = {  # what comes before, and a statement that takes seconds
    "load": ("", "LOAD e FROM 'e.txt' WITH (directed = false, duplicates = 'count')"),
    "load gzip": ("", "LOAD e FROM 'e.txt.gz'"),
    "load matrix": ("", "LOAD e FROM 'e.mtx'"),
    "load from a pipe": ("", "LOAD e FROM 'pipe'"),
    "generate": ("", RMAT.format(22)),
    "multiply": (RMAT.format(16), "LET h = MULTIPLY g BY g CON a + b AGG min"),
    "multiply, written": (RMAT.format(16), "LET h = MULTIPLY g BY g CON s AGG (x, y) -> (x * 3 + y) % 1009 IDENTITY 0"),
    "power": (RMAT.format(14), "LET h = POWER g UNTIL STABLE CON a + b AGG min"),
    "sweep": ("GENERATE g AS noise(nx = 3001, ny = 2000, type = 'f32')",
              "LET h = SWEEP g STEP (u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) / 4 STEPS 1000000"),
    "sweep, written": ("GENERATE g AS noise(nx = 301, ny = 201, nz = 50)",
                       "LET h = SWEEP g STEP sqrt(abs(u[1] * u[-1])) STEPS 100000 CHANGE EVERY 1"),
    "totals": (f"{RMAT.format(18)}; {VIEW}", "SELECT count(*), sum(value), max(value) FROM f"),
    "sort": (f"{RMAT.format(15)}; {VIEW}", "SELECT src, dst FROM f ORDER BY value * 7 % 1000, dst LIMIT 3"),
    "group": (f"{RMAT.format(16)}; {VIEW}", "SELECT value, count(*) FROM f GROUP BY value LIMIT 3"),
    "let select": (f"{RMAT.format(16)}; {VIEW}", "LET h = SELECT dst AS src, src AS dst FROM f"),
    "print": (f"{RMAT.format(16)}; {VIEW}", "SELECT * FROM f"),
    "save": (f"{RMAT.format(17)}; {VIEW}", "SAVE f TO 'out.csv'"),
    "save to a pipe": (RMAT.format(5), "SAVE g TO 'pipe' AS csv"),
}


def make_inputs(folder):
    """90 MB of edges, plain and packed (in many members, which takes no time), as a matrix, and a pipe without ends."""
    lines = [f"{random.randrange(1000000)} {random.randrange(1000000)} {i % 9}\n" for i in range(100000)]
    block = "".join(lines).encode()
    packed = subprocess.run(["gzip", "-1c"], input=block, stdout=subprocess.PIPE, check=True).stdout
    for name, head, body in (("e.txt", b"", block), ("e.txt.gz", b"", packed),
                             ("e.mtx", b"%%MatrixMarket matrix coordinate real general\n1000000 1000000 6000000\n",
                              block.replace(b" 0 ", b" 1 "))):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(head)
            for _ in range(60):
                file.write(body)
    os.mkfifo(os.path.join(folder, "pipe"))


def press(folder, setup, statement, wait, *args):
    """Seconds from the signal to the end of the program, None where the statement was not running then."""
    child = subprocess.Popen([LACIS.path, "--mode", "csv", "-f", "-", *args], cwd=folder, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=usual_interrupt)
    child.stdin.write(f"{setup + ';' if setup else ''} SELECT 1 AS ready;\n".encode())
    child.stdin.flush()
    said = child.stdout.readline() + child.stdout.readline()
    assert said == b"ready\n1\n", (said, child.stderr.read())
    child.stdin.write(f"{statement};\nSELECT 2 AS after;\n".encode())
    child.stdin.close()
    tail = []
    readers = [threading.Thread(target=lambda: tail.append(read_end(child.stdout))),
               threading.Thread(target=lambda: tail.append(read_end(child.stderr)))]
    for reader in readers:
        reader.start()
    time.sleep(wait)
    began = time.time()
    child.send_signal(signal.SIGINT)
    code = child.wait(60)
    took = time.time() - began
    for reader in readers:
        reader.join()
    if code == 0:
        return None
    assert code == 130, f"{statement}: exit {code}: {tail}"
    assert not any(b"after" in text for text in tail), tail
    if not any(b"error: " in text for text in tail):
        return None  # a busy machine: the statement had not been read yet
    assert any(b"error: interrupted" in text for text in tail), tail
    return took


def read_end(stream):
    """All of it, the last part kept."""
    last = b""
    while True:
        data = stream.read1(1 << 16)
        if not data:
            return last
        last = (last + data)[-2000:]


def soon(name, folder, setup, statement, *args):
    took = [press(folder, setup, statement, wait, *args) for wait in WAIT]
    real = sorted(t for t in took if t is not None)
    assert real, f"{name}: over before it could be interrupted"
    middle = real[(len(real) - 1) // 2]
    assert middle < SOON * SLOW, f"{name}: ended {real} s after Ctrl-C"
    return middle


def scripts_end():
    took = {}
    with tempfile.TemporaryDirectory() as folder:
        make_inputs(folder)
        with open(os.path.join(folder, "out.csv"), "w", encoding="ascii") as file:
            file.write("what was there\n")
        before = sorted(os.listdir(folder))
        for name, (setup, statement) in PHASES.items():
            took[name] = soon(name, folder, setup, statement)
        assert open(os.path.join(folder, "out.csv"), encoding="ascii").read() == "what was there\n"
        assert sorted(os.listdir(folder)) == before, os.listdir(folder)
    name = max(took, key=took.get)
    return f"{len(took)} phases, slowest '{name}' with {took[name]:.3f} s"


def databases_stay():
    """Into a file: writing an array, reading it back."""
    with tempfile.TemporaryDirectory() as folder:
        LACIS.good("GENERATE g AS path(5);", "d.lacis", folder=folder)
        soon("write", folder, "", RMAT.format(20), "d.lacis")
        rows = LACIS.good("SELECT count(*) FROM g; PRAGMA integrity_check; SELECT count(*) FROM lacis_array;", "d.lacis",
                          folder=folder)
        assert rows == [["count(*)"], ["4"], ["integrity_check"], ["ok"], ["count(*)"], ["1"]], rows


class Terminal:
    def __init__(self):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="dumb", XDG_STATE_HOME="/nonexistent", NO_COLOR="1")
            os.execv(LACIS.path, [LACIS.path])

    def line(self, text):
        os.write(self.fd, (text + "\r").encode())

    def expect(self, wanted, seconds=30):
        """Reads until the text occurs; what came before it."""
        end = time.time() + seconds
        while wanted not in self.text:
            if not select.select([self.fd], [], [], max(0.0, end - time.time()))[0]:
                raise AssertionError(f"never saw {wanted!r} in {self.text!r}")
            self.text += os.read(self.fd, 65536).decode("utf-8", "replace")
        before, _, self.text = self.text.partition(wanted)
        return before


def sessions_go_on():
    """At a terminal the statement ends and the next one runs."""
    shell = Terminal()
    shell.expect("lacis> ")
    shell.line(f"{RMAT.format(17)};")
    shell.expect("g: graph")
    for statement in ("LET h = MULTIPLY g BY g CON a + b AGG min;", f"{RMAT.format(22).replace('g AS', 'k AS')};",
                      "SELECT a.dst, count(*) FROM g a JOIN g b ON a.dst = b.src GROUP BY 1 ORDER BY 2 LIMIT 1;"):
        shell.expect("lacis> ")
        shell.line(statement)
        time.sleep(0.4)
        os.write(shell.fd, b"\x03")
        began = time.time()
        shell.expect("error: interrupted")
        assert time.time() - began < SOON * SLOW * 2, f"{statement}: {time.time() - began} s"
    shell.line("SELECT count(*) AS edges FROM g;")
    shell.expect("edges │")
    shell.expect("lacis> ")
    shell.line("SHOW ARRAYS;")
    shown = shell.expect("lacis> ")
    assert "│ g" in shown and "│ h " not in shown and "│ k " not in shown, shown
    shell.line(".quit")
    _, status = os.waitpid(shell.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0


# Checkers (asan and the like) and unoptimized builds are slower: they say how much.
SLOW = float(os.environ.get("LACIS_TEST_SLOW", "1"))

if __name__ == "__main__":
    random.seed(3)
    sys.exit(run_all([scripts_end, databases_stay, sessions_go_on]))
