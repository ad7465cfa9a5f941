#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shell at a terminal: interactive.py LACIS EDITOR (readline, libedit or none). Types at a pseudo-terminal and
reads what a person would see; escape sequences are taken out first."""
import codecs
import fcntl
import os
import pty
import re
import select
import stat
import struct
import sys
import tempfile
import termios
import time

LACIS, EDITOR = os.path.abspath(sys.argv[1]), sys.argv[2]
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c;"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x1b\([A-Z]|[\x07\x0f]")


class Terminal:
    """One session of the shell."""

    def __init__(self, folder, *args, columns=80, **environment):
        self.text, self.raw = "", ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a read may end within a character
        variables = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        variables.update(TERM="xterm", LC_ALL="C.UTF-8", XDG_STATE_HOME=folder, INPUTRC="/dev/null", HOME=folder)
        variables.update(environment)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))  # before anything is written
            os.execve(LACIS, [LACIS, *args], variables)

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # the other side is closed
            return False
        self.raw += self.decoder.decode(data)
        self.text = ESCAPES.sub("", self.raw)
        return bool(data)

    def expect(self, wanted, seconds=20):
        """Reads until the text occurs and forgets what came up to its end."""
        end = time.time() + seconds
        while wanted not in self.text:
            if not self.read(max(0.0, end - time.time())):
                if time.time() >= end or not self.read(0.2):
                    raise AssertionError(f"never saw {wanted!r} in {self.text!r}")
        before, _, self.text = self.text.partition(wanted)
        self.raw = self.text
        return before

    def type(self, text):
        os.write(self.fd, text.encode())

    def line(self, text):
        self.type(text + "\r")

    def end(self):
        """Exit code."""
        while self.read(0.5):
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)

    def quit(self):
        self.line(".quit")
        assert self.end() == 0


def banner_and_statements(folder):
    shell = Terminal(folder)
    assert "lacis 0." in shell.expect("(in memory): .help for help, .quit to leave")
    shell.expect("lacis> ")
    shell.line("SELECT 1 AS a,")
    shell.expect("   ...> ")
    shell.line("'x' AS b;")
    shell.expect("│ a │ b │")
    shell.expect("│ 1 │ x │")
    shell.expect("lacis> ")
    shell.line("SELECT nope;")
    shell.expect("error: ")
    shell.expect("  SELECT nope;\r\n         ^")
    shell.expect("lacis> ")  # a failure does not end the session
    shell.line("SELECT 1")
    shell.expect("   ...> ")
    shell.line(".quit")
    shell.expect("still inside a statement")
    shell.expect("   ...> ")
    shell.line("")
    shell.expect("still inside a statement")
    shell.expect("   ...> ")
    shell.line("")
    assert "still inside" not in shell.expect("   ...> ")  # said already
    shell.type("\x03")
    shell.expect("lacis> ")
    shell.type("\x04")
    assert shell.end() == 0


def row_limit_and_narrow_terminal(folder):
    shell = Terminal(folder, "d.lacis", columns=60)
    shell.expect("lacis> ")
    shell.line("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 1234) SELECT x FROM c;")
    shell.expect("│ 40 │")
    shell.expect("(1,234 rows, 40 shown; .maxrows 0 shows all)")
    shell.line("SELECT 7 AS n, printf('%080d', 1) AS wide;")
    row = shell.expect("…")
    assert "0000000000" in row
    shell.expect("(1 cells cut at … to fit the terminal; .mode line shows them\r\n  whole)")
    shell.quit()


def interrupts(folder):
    shell = Terminal(folder)
    shell.expect("lacis> ")
    shell.type("SELECT 'dropped'")
    shell.expect("'dropped'")
    shell.type("\x03")
    shell.expect("lacis> ")
    shell.line(ENDLESS)
    time.sleep(0.5)
    shell.type("\x03")
    shell.expect("error: ")
    shell.expect("lacis> ")
    shell.line("SELECT 40 + 2 AS answer;")
    shell.expect("42")
    shell.quit()


def progress_bar(folder):
    """Counts, rate, part, time so far and time left, on one line that is gone before anything else is written; seconds
    alone where nothing more is known; nothing in less than a second."""
    shell = Terminal(folder, columns=100)
    shell.expect("lacis> ")
    shell.line("GENERATE g AS noise(nx = 200, ny = 200); SELECT 5 AS quick;")
    quick = shell.expect("lacis> ")
    assert "%" not in quick and "working" not in quick, quick
    shell.line("LET w = SWEEP g STEP exp(-u[-1,0] * u[1,0]) STEPS 300000;")
    end, seen = time.time() + 60, ""
    bar = re.compile(r"SWEEP (\d+) of 300000 steps, ([\d.e+]+)/s  \[(#*)\.*\] +(\d+) %  (\d+\.\d) s, [\d.]+ (s|min|h) left")
    while time.time() < end and len({found[0] for found in bar.findall(seen)}) < 3:
        shell.read(0.2)
        seen = shell.text
    bars = bar.findall(seen)
    assert len(bars) >= 3, seen
    assert int(bars[0][0]) < int(bars[-1][0]) and float(bars[0][4]) < float(bars[-1][4]), bars
    done, rate, seconds = int(bars[-1][0]), float(bars[-1][1]), float(bars[-1][4])
    assert 0.4 * done < rate * seconds < 2.5 * done, bars[-1]
    assert all(len(line) < 100 for line in seen.split("\r")), seen
    shell.type("\x03")
    shell.expect("error: interrupted")
    shell.expect("lacis> ")
    shell.line(ENDLESS)
    shell.expect("working  1.")
    shell.expect("working  2.")
    shell.type("\x03")
    shell.expect("error: ")
    shell.expect("lacis> ")
    shell.line("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 30000000) SELECT count(*) AS n, 'row' AS r FROM c;")
    shell.expect("working  1.")
    rows = shell.expect("lacis> ", 100)
    assert "working" not in rows[rows.index("┌"):], rows
    shell.quit()
    for columns in (12, 24):  # a bar that wraps would leave lines behind
        shell = Terminal(folder, "-c", "GENERATE g AS noise(nx = 200, ny = 200); LET w = SWEEP g STEP exp(-u[-1,0] * u[1,0]) STEPS 300000",
                         columns=columns)
        end = time.time() + 3
        while time.time() < end:
            shell.read(0.2)
        bars = [line for line in shell.raw.split("\r\x1b[K")[1:] if "\n" not in line]
        assert len(bars) >= 3 and all(len(line) < columns for line in bars), (columns, bars)
        shell.type("\x03")
        assert shell.end() == 130


def late_answer(folder):
    """What a terminal says of itself only when it is no longer waited for comes into no line."""
    shell = Terminal(folder)
    shell.expect("lacis> ")
    shell.line("LET v = SELECT 1 AS a, 2 AS b; PLOT v;")
    while "\x1b[c" not in shell.raw:
        assert shell.read(20)
    shell.expect("lacis> ")
    for before, after in (("", "SELECT 4711 AS a;"), ("SELECT 48", "15 AS a;")):
        shell.type(before + "\x1b[?64;1;22c" + after + "\r")
        shell.expect("│ 4711 │" if not before else "│ 4815 │")
        shell.expect("lacis> ")
    if EDITOR != "libedit":  # which binds no such beginning
        shell.type("\x1b_Gi=31;OK\x1b\\\x1b[?62;cSELECT 47\x1b_Gi=31;OK\x1b\\12 AS a;\r")
        shell.expect("│ 4712 │")
        shell.expect("lacis> ")
    shell.line("SELECT '?1;2c' AS a;")
    shell.expect("│ ?1;2c │")  # typed, it is nobody's answer
    shell.quit()


def leaves_with_130(folder):
    """-c at a terminal is no session: one press ends it."""
    shell = Terminal(folder, "-c", ENDLESS)
    time.sleep(0.5)
    shell.type("\x03")
    assert shell.end() == 130


def history(folder):
    shell = Terminal(folder)
    shell.expect("lacis> ")
    shell.line("SELECT 1 AS a,")
    shell.expect("   ...> ")
    shell.line("'\\' AS b;")
    shell.expect("lacis> ")
    for _ in range(2):
        shell.line("SELECT 12345;")
        shell.expect("│ 12345 │")
        shell.expect("lacis> ")
    shell.quit()
    path = os.path.join(folder, "lacis", "history")
    entries = open(path, encoding="utf-8").read()
    assert entries == "SELECT 1 AS a,\\n'\\\\' AS b;\nSELECT 12345;\n.quit\n", entries
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    shell = Terminal(folder)
    shell.expect("lacis> ")
    shell.type("\x1b[A\x1b[A")
    shell.expect("SELECT 12345;")
    shell.type("\r")
    shell.expect("│ 12345 │")
    shell.quit()
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"SELECT {i};\n" for i in range(10500))
    Terminal(folder).quit()
    lines = open(path, encoding="utf-8").read().splitlines()
    assert len(lines) == 10001 and lines[0] == "SELECT 500;" and lines[-1] == ".quit", (len(lines), lines[0])


def completion(folder):
    with open(os.path.join(folder, "edges of mine.txt"), "w", encoding="utf-8") as file:
        file.write("1 2\n")
    shell = Terminal(folder)
    shell.expect("lacis> ")
    shell.type(".max\t")
    shell.expect("rows")
    shell.line("7")
    shell.expect("lacis> ")
    shell.type(".mode mark\t")
    shell.expect("down")
    shell.line("")
    shell.expect("lacis> ")
    shell.type("LOA\t")
    shell.expect("D")
    shell.type("g FROM 'edg\t")
    shell.expect("es of mine.txt")
    shell.type("\x03")
    shell.expect("lacis> ")
    shell.quit()


def colours(folder):
    for environment, expected in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        shell = Terminal(folder, "-c", ".mode table", "-c", "SELECT 'x' AS a, NULL AS b; SELECT nope;", **environment)
        while shell.read(2):
            pass
        for coloured in ("\x1b[1ma\x1b[0m", "\x1b[2mNULL\x1b[0m", "\x1b[31merror:\x1b[0m"):
            assert (coloured in shell.raw) == expected, (environment, shell.raw)
        assert shell.end() == 1


def seen(folder, columns, *texts):
    """What a terminal of so many columns shows of -c TEXT ..."""
    shell = Terminal(folder, *(word for text in texts for word in ("-c", text)), columns=columns)
    while shell.read(100):  # to its end
        pass
    text = shell.text.replace("\r", "")
    shell.end()
    return text


def broken_between_words(folder):
    """Help, plans, errors, hints and what SHOW lists keep to the terminal's width, and no word is cut."""
    texts = [f".help {topic}" for topic in ("", "statements", "simulate", "sweep", "files", "multipyl")]
    texts += ["GENERATE s AS tridiagonal(rows = 9, lanes = 70); EXPLAIN ANALYZE SOLVE s;\nEXPLAIN SOLVE s ON GPU;"]
    texts += ["LOAD x FROM 'a/path/that is/not there/of a file/with several words/in it.txt';", "SELECT nope FROM sqlite_schema;"]
    for text in texts:
        wide = seen(folder, 1000, text)
        for columns in (60, 80):
            narrow = seen(folder, columns, text)
            lines = narrow.splitlines()
            assert all(len(line) <= columns for line in lines), (text, columns, narrow)
            words, wanted = narrow.split(), wide.split()
            for number in (words, wanted):  # measured times differ
                number[:] = ["#" if re.match(r"[\d(.]", word) else word for word in number]
            assert words == wanted, (text, columns, [pair for pair in zip(words, wanted) if pair[0] != pair[1]][:3])
    shown = [len(line) for line in seen(folder, 80, ".help multiply").splitlines()]
    assert len(shown) > 40 and sum(length > 60 for length in shown) > 20  # lines are filled
    for what, most in (("OPERATORS", 80), ("LOADERS", 80), ("OPTIONS", 60)):
        listed = seen(folder, most, ".mode box", f"SHOW {what};")
        assert listed.count("\n") > 10 and "…" not in listed, listed
        assert all(len(line) <= most for line in listed.splitlines()), listed


if __name__ == "__main__":
    tests = [broken_between_words, banner_and_statements, row_limit_and_narrow_terminal, interrupts, progress_bar, late_answer, leaves_with_130, colours]
    if EDITOR != "none":
        tests += [history, completion]
    for test in tests:
        with tempfile.TemporaryDirectory() as state:
            test(state)
        print(f"passed: {test.__name__}")
