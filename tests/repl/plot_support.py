# SPDX-License-Identifier: Apache-2.0
"""What the tests of PLOT share: a session with something of every kind, run in a pipe or in a terminal, and pictures decoded
into rows of colours. plot_*.py end with finish().
"""
import fcntl
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata
import zlib

LACIS, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
SET_UP = """
LOAD friends FROM 'datasets/friends.txt';
LOAD plate FROM 'datasets/plate.pgm';
LOAD cell FROM 'datasets/cell.swc';
LET v = SIMULATE cell DT 0.025 STEPS 2000 HH CLAMP soma 1 FROM 5 TO 25 PROBE soma PROBE 'dend[3](0.5)';
GENERATE few AS plummer(1000);
GENERATE many AS plummer(20000);
GENERATE n AS noise(300, 200, low = -3, high = 5);
GENERATE flat AS constant(4, 4, value = 7);
GENERATE rod AS gaussian(200, fields = 'u,w', fill = 'u', rest = 0.5);
GENERATE s AS symmetric(40);
LET log = SELECT 1 AS a, 0.5 AS b UNION ALL SELECT 2, 0.25 UNION ALL SELECT 4, 9e999 UNION ALL SELECT 8, 0.125;
GENERATE deep AS noise(8, 8, 8);
GENERATE wall AS noise(8, 1, 8);
LET wild = WITH RECURSIVE s(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < 20000)
           SELECT i * 7919 % 20011 AS a, i * 104729 % 20011 AS b FROM s;
GENERATE two AS tridiagonal(5, 3);
LET odd = SELECT 1 AS id, 3 AS type, 0.0 AS x, 0.0 AS y, 0.0 AS z, 1.0 AS radius, 2 AS parent UNION ALL
    SELECT 2, 1, 10, 5, 3, 9e999, 3 UNION ALL SELECT 3, 2, -10, 7, 2, -1, 1 UNION ALL SELECT 4, 9, 10, -7, 2, 1, 4 UNION ALL
    SELECT 5, 9, 9e999, 7, 2, 1, 4 UNION ALL SELECT 6, 9, 1, 7, 2, 1, 5 UNION ALL SELECT 6, 9, 4, 7, 2, 1, 77;
LET corner = SELECT 1 AS id, 1 AS type, 0.0 AS x, 0.0 AS y, 0.0 AS z, 10.0 AS radius, -1 AS parent UNION ALL
    SELECT 3, 3, 100, 100, -50, 1, 2 UNION ALL SELECT 2, 2, 100, 0, 0, 2, 1;
LET point = SELECT 1 AS id, 1 AS type, 5e6 AS x, 7.0 AS y, 0.0 AS z, 0 AS radius, -1 AS parent;
"""
failures = []
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)
shutil.copytree(SOURCE / "datasets", folder / "datasets")


def check(good, what):
    if not good:
        failures.append(what)


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLORTERM", "LACIS_PLOT", "TMUX", "TERM_PROGRAM", "KITTY_WINDOW_ID")}
    return {**kept, "TERM": "dumb", "LC_ALL": "C.UTF-8", **more}


def run(statement, **more):
    return subprocess.run([LACIS, "-c", SET_UP, "-c", statement], cwd=folder, env=environment(**more), capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=100)


def run_on_terminal(statement, size=(0, 0), pixels=(0, 0), **more):
    main, other = pty.openpty()
    fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack("HHHH", *size, *pixels))
    with subprocess.Popen([LACIS, "-c", SET_UP, "-c", statement], cwd=folder, env=environment(**more), stdout=other,
                          stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as process:
        os.close(other)
        out = b""
        try:
            while piece := os.read(main, 1 << 16):
                out += piece
        except OSError:  # the other end is closed
            pass
        process.wait(timeout=100)
    os.close(main)
    return out


def decode_png(data):
    """Width, height and rows of (red, green, blue)."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, width, height = 8, b"", 0, 0
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body)
        if kind == b"IHDR":
            width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", body)
            assert (depth, colour, rest) == (8, 2, [0, 0, 0])
        if kind == b"IDAT":
            packed += body
        at += 12 + size
    raw, rows = zlib.decompress(packed), []
    assert len(raw) == height * (1 + 3 * width)
    for y in range(height):
        row = raw[y * (1 + 3 * width):(y + 1) * (1 + 3 * width)]
        assert row[0] == 0
        rows.append([tuple(row[1 + 3 * x:4 + 3 * x]) for x in range(width)])
    return width, height, rows


def decode_sixel(data):
    """Width, height and rows of (red, green, blue) of an image without anything around it."""
    head = re.match(rb'\033P0;1;0q"1;1;(\d+);(\d+)', data)
    assert head and data.endswith(b"\033\\"), data[:40]
    width, height = map(int, head.groups())
    rows, colour, palette, left, top = [[None] * width for _ in range(height)], None, {}, 0, 0
    for token in re.finditer(rb"#(\d+);2;(\d+);(\d+);(\d+)|#(\d+)|!(\d+)([?-~])|([?-~])|([$-])", data[head.end():-2]):
        number, red, green, blue, chosen, count, repeated, single, move = token.groups()
        if number:
            palette[int(number)] = tuple(round(int(c) * 2.55) for c in (red, green, blue))
        elif chosen:
            colour = palette[int(chosen)]
        elif move:
            left, top = 0, top + (6 if move == b"-" else 0)
        else:
            for _ in range(int(count or 1)):
                bits = (repeated or single)[0] - 63
                for y in range(6):
                    if bits >> y & 1:
                        assert rows[top + y][left] is None, "two colours in one place"
                        rows[top + y][left] = colour
                left += 1
    assert len(palette) <= 256 and all(pixel is not None for row in rows for pixel in row), "places without a colour"
    return width, height, rows


def answering(statement, answer, typed=b"", **more):
    """What a terminal sees that answers ESC [ c so, the keyboard being its standard input."""
    pid, main = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(LACIS, [str(LACIS), "-c", SET_UP, "-c", statement], environment(**{"TERM": "xterm", **({"LACIS_PLOT_WAIT": "60"} if answer else {}), **more}))
    out, asked = b"", 0
    os.write(main, typed)
    try:
        while piece := os.read(main, 1 << 16):
            out += piece
            if out.count(b"\033[c") > asked:
                asked += 1
                os.write(main, answer)
    except OSError:  # the other end is closed
        pass
    os.waitpid(pid, 0)
    os.close(main)
    return out, asked


def light(pixel):
    return 0.3 * pixel[0] + 0.6 * pixel[1] + 0.1 * pixel[2]


def luminance(pixel):
    """Relative, as WCAG's contrast takes it."""
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in pixel]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def width_of(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def finish():
    scratch.cleanup()
    print("\n".join(failures) or "plots are as they should be")
    sys.exit(1 if failures else 0)
