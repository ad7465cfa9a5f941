#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two programs on one database: each sees what the other has committed with its next statement, a transaction keeps
what it began with, and waiting for the other's lock ends in time or with Ctrl-C.   processes.py LACIS"""
import os
import signal
import subprocess
import sys
import tempfile
import time

from program import Program, run_all, usual_interrupt

LACIS = Program(sys.argv[1])


class Session:
    """One program that is asked again and again."""

    def __init__(self, folder):
        self.child = subprocess.Popen([LACIS.path, "--mode", "csv", "-f", "-", "d.lacis"], cwd=folder, text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      preexec_fn=usual_interrupt)
        self.send(".bail off\n")
        self.ask("SELECT 1")  # only now is the database open, and no lock of its making left

    def send(self, text):
        self.child.stdin.write(text)
        self.child.stdin.flush()

    def ask(self, statement):
        """What comes out, both results and messages, as one line."""
        self.send(f"{statement};\nSELECT 'over' AS over;\n")
        lines = []
        while (line := self.child.stdout.readline().rstrip("\n")) != "over":
            assert line or self.child.poll() is None, f"ended during {statement}: {lines}"
            lines.append(line)
        self.child.stdout.readline()
        return " ".join(lines)

    def close(self):
        self.child.stdin.close()
        self.child.wait(60)
        self.child.stdout.close()


def sessions(test):
    with tempfile.TemporaryDirectory() as folder:
        one, two = Session(folder), Session(folder)
        test(one, two)
        one.close()
        two.close()


def expect(session, statement, wanted):
    said = session.ask(statement)
    assert said == wanted or (wanted.startswith("*") and wanted[1:] in said), f"{statement}: {said!r}, not {wanted!r}"


def each_sees_the_other():
    def test(one, two):
        one.ask("GENERATE g AS path(5)")
        expect(two, "SELECT count(*) FROM g", "count(*) 4")
        expect(two, "MULTIPLY g BY g HAVING src = 0", "src,dst,value 0,2,1")
        one.ask("GENERATE g AS path(9)")
        expect(two, "SELECT count(*) FROM g", "count(*) 8")
        expect(two, "MULTIPLY g BY g HAVING src > 5", "src,dst,value 6,8,1")
        one.ask("CREATE VIEW v AS MULTIPLY g BY g")
        expect(two, "SELECT count(*) FROM v", "count(*) 7")
        one.ask("LET v = SELECT 1 AS i, 2.5 AS value")
        expect(two, "SELECT * FROM v", "i,value 1,2.5")
        expect(two, "SELECT value FROM v WHERE i = 1", "value 2.5")
        one.ask("DROP v; DROP g")
        expect(two, "SELECT * FROM v", "*no such table, array or view: v")
        expect(two, "MULTIPLY g BY g", "*no array or view is called g")
        expect(two, "SHOW ARRAYS", "name,kind,shape,entries,type,bytes,definition")
        one.ask("CREATE TABLE t(x)")
        expect(two, "GENERATE t AS path(3)", "*an SQL table is called t")
        two.ask("GENERATE z AS path(3)")
        expect(one, "CREATE TABLE z(x)", "*an array or view called z is there already")
        two.ask("SET threads = 1")
    sessions(test)


def transactions_keep_their_state():
    def test(one, two):
        one.ask("GENERATE g AS path(5)")
        two.ask("BEGIN")
        expect(two, "SELECT count(*) FROM g", "count(*) 4")
        expect(one, "GENERATE g AS path(9)", "*another process or statement holds the database; try again")
        expect(two, "SELECT count(*) FROM g", "count(*) 4")
        two.ask("COMMIT")
        one.ask("GENERATE g AS path(9)")
        expect(two, "SELECT count(*) FROM g", "count(*) 8")
        two.ask("BEGIN; GENERATE g AS path(3)")
        expect(one, "SELECT count(*) FROM g", "count(*) 8")
        two.ask("ROLLBACK")
        expect(two, "SELECT count(*) FROM g", "count(*) 8")
    sessions(test)


def waiting_ends():
    def test(one, two):
        expect(one, "BEGIN; GENERATE g AS path(3)", "*g: graph, 3 vertices, 2 edges")
        began = time.time()
        expect(two, "GENERATE k AS path(3)", "*another process or statement holds the database; try again")
        assert 1 < time.time() - began < 30, time.time() - began
        two.send("GENERATE k AS path(3);\n")
        time.sleep(0.5)
        began = time.time()
        two.child.send_signal(signal.SIGINT)
        assert two.child.wait(60) == 130 and time.time() - began < 2, time.time() - began
        assert "interrupted" in two.child.stdout.read()
        expect(one, "COMMIT", "")
    with tempfile.TemporaryDirectory() as folder:
        one, two = Session(folder), Session(folder)
        test(one, two)
        one.close()
        two.child.stdout.close()
        assert LACIS.good("SELECT count(*) FROM g;", "d.lacis", folder=folder)[1] == ["2"]


def writers_take_turns():
    """Three programs that write one after the other: all of it arrives."""
    with tempfile.TemporaryDirectory() as folder:
        children = [subprocess.Popen([LACIS.path, "d.lacis", "-c", "".join(
            f"GENERATE w{k}_{i} AS path({10 * k + i + 2});" for i in range(10))], cwd=folder, stderr=subprocess.PIPE)
            for k in range(3)]
        for child in children:
            _, err = child.communicate(timeout=120)
            assert child.returncode == 0, err
        rows = LACIS.good("SELECT count(*), sum(entries) FROM lacis_array; PRAGMA integrity_check;", "d.lacis",
                          folder=folder)
        assert rows[1] == ["30", str(sum(10 * k + i + 1 for k in range(3) for i in range(10)))], rows
        assert rows[3] == ["ok"], rows
        assert not os.path.exists(os.path.join(folder, "d.lacis-journal"))


if __name__ == "__main__":
    sys.exit(run_all([each_sees_the_other, transactions_keep_their_state, waiting_ends, writers_take_turns]))
