#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PLOT: pictures are decoded and looked at, in files (PNG, SVG), in characters, as an image for terminals that take
them, with and without colours; and what cannot be drawn says why. plot.py LACIS SOURCE
"""
import base64
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
import xml.etree.ElementTree
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


def check(good, what):
    if not good:
        failures.append(what)


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLORTERM", "LACIS_PLOT", "TMUX", "TERM_PROGRAM", "KITTY_WINDOW_ID")}
    return {**kept, "TERM": "dumb", "LC_ALL": "C.UTF-8", **more}


def run(statement, **more):
    return subprocess.run([LACIS, "-c", SET_UP, "-c", statement], cwd=folder, env=environment(**more), capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=100)


def run_on_terminal(statement, size=(0, 0), **more):
    main, other = pty.openpty()
    fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
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


def light(pixel):
    return 0.3 * pixel[0] + 0.6 * pixel[1] + 0.1 * pixel[2]


def check_files():
    pictures = ["plate", "v", "friends", "friends AS hist", "few", "many", "n AS hist", "rod", "s", "log", "log AS scatter",
                "flat", "deep", "deep AS hist", "s AS heat", "wall", "wild", "cell", "odd", "cell AS line", "corner AS tree",
                "point"]
    names = [f"picture{i}" for i in range(len(pictures))]
    done = run("".join(f"PLOT {p} TO '{n}.png'; PLOT {p} TO '{n}.svg';" for p, n in zip(pictures, names)))
    if done.returncode != 0:
        sys.exit(done.stderr.decode())
    check(b"plate: drawn to picture0.png" in done.stderr, "no summary")
    for picture, name in zip(pictures, names):
        width, height, rows = decode_png((folder / f"{name}.png").read_bytes())
        check((width, height) == (1600, 1067), f"{picture}: {width} x {height}")
        inked = sum(pixel != (255, 255, 255) for row in rows for pixel in row)
        check(inked > 5000, f"{picture}: {inked} pixels are not white")
        check(all(pixel == (255, 255, 255) for pixel in rows[0] + rows[-1]), f"{picture}: something touches the border")
        tree = xml.etree.ElementTree.parse(folder / f"{name}.svg")
        texts = [e.text for e in tree.iter("{http://www.w3.org/2000/svg}text") if e.text]
        check(any(t.startswith(picture.split()[0] + ":") for t in texts), f"{picture}: no title among {texts}")
        check(sum(re.fullmatch(r"-?[\d.]+(e-?\d+)?", t) is not None for t in texts) >= 4, f"{picture}: {texts}")
    check_plate(decode_png((folder / "picture0.png").read_bytes())[2])
    check_corner(decode_png((folder / f"picture{pictures.index('corner AS tree')}.png").read_bytes())[2])
    tree = (folder / f"picture{pictures.index('cell')}.svg").read_text()
    check(all(f">{t}<" in tree for t in ("x (um)", "y (um)", "z (um)", "soma", "axon", "basal dendrite", "apical dendrite")),
          "axes and legend of a tree")
    check(">other<" not in tree, "a tree's legend has a type that is not there")
    degrees = (folder / f"picture{pictures.index('friends AS hist')}.svg").read_text()
    check(all(f">{t}<" in degrees for t in (1, 2, 4, 8, 16)) and ">5<" not in degrees, "a histogram's bars begin and end at ticks")
    svg = (folder / "picture1.svg").read_text()
    check("t (ms)" in svg and "v (mV)" in svg and "probe 1" in svg, "axes and legend of a trace")
    image = re.search(r"base64,([^\"]*)", (folder / "picture0.svg").read_text()).group(1)
    width, height, rows = decode_png(base64.b64decode(image))
    check((width, height) == (65, 49), f"plate in SVG: {width} x {height}")
    check(len({rows[0][x] for x in range(65)}) == 1 and light(rows[0][0]) > light(rows[48][30]) > light(rows[24][30]),
          "plate in SVG: top, strip, inside")


def check_plate(rows):
    """The top edge is hot, the middle of the bottom warm, the inside cold."""
    middle = 750
    column = [rows[y][middle] for y in range(1067)]
    shades = [p for p in column if p not in ((255, 255, 255), (0x20, 0x20, 0x20), (0x40, 0x40, 0x40))]
    check(light(max(shades, key=light)) > 200 and light(min(shades, key=light)) < 40, "plate: hot and cold")


def box_of(rows, near, left, right):
    """Where a colour is below the legend: x from and to, y from and to."""
    found = [(x, y) for y in range(140, 1067) for x in range(left, right) if rows[y][x] == near]
    return [f(p[i] for p in found) for i in (0, 1) for f in (min, max)]


def check_corner(rows):
    """A soma of 20 um, an axon 100 um to the right, from there a dendrite 100 up in y and 50 down in z: its parent is
    behind it in the table."""
    colours = {name: rows[99][x] for name, x in legend_of(rows).items()}
    for left, rise in ((0, -101), (800, 51)):  # with half the width of the dendrite, whose end is round
        soma, axon, dendrite = (box_of(rows, colours[c], left, left + 800) for c in ("soma", "axon", "dendrite"))
        unit = (soma[1] - soma[0] + 1) / 20
        middle = (soma[0] + soma[1]) / 2, (soma[2] + soma[3]) / 2
        check(abs(unit - (soma[3] - soma[2]) / 20) < 0.2, f"corner: the soma is no circle: {soma}")
        check(abs(axon[1] - middle[0] - 100 * unit - 2 * unit) < 6, f"corner: soma {soma}, axon {axon}")
        check(abs(axon[3] - axon[2] - 4 * unit) < 4, f"corner: the axon's width: {axon}, {unit} pixels a um")
        end = dendrite[2] if rise < 0 else dendrite[3]
        check(abs(end - middle[1] - rise * unit) < 4, f"corner: soma {soma}, dendrite {dendrite}")
        check(abs(dendrite[1] - dendrite[0] - 2 * unit) < 4, f"corner: the dendrite's width: {dendrite}")


def legend_of(rows):
    """Where the three strokes of the legend begin: runs of a colour that are longer than letters'."""
    starts, x = [], 0
    while x < 1580:
        colour, from_x = rows[99][x], x
        while x < 1600 and rows[99][x] == colour:
            x += 1
        if x - from_x > 25 and colour != (255, 255, 255):
            starts.append(from_x)
    return dict(zip(("soma", "axon", "dendrite"), starts))


def width_of(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def check_text():
    for statement, parts in (("PLOT plate", ["plate: value, 65 x 49", "█", "value: 0 ░", " 100"]),
                             ("PLOT v", ["v (mV)", "t (ms)", "⡤", "⠶⠶ probe 0", "++ probe 1"]),
                             ("PLOT friends", ["240 x 240, 1635 entries", "row, from 0", "column, from 0", "200 ┤"]),
                             ("LET tens = SELECT 10 * src AS src, 7 * dst AS dst FROM friends; PLOT tens",
                              ["row: place of src among its ids, from 0", "column: place of dst among its ids, from 0"]),
                             ("PLOT cell AS hist", ["cell: radius, 369 values", " radius"]),
                             ("PLOT cell AS scatter", ["cell: y over x, 369 rows", "-400 ┤", "-200"]),
                             ("PLOT log AS scatter", ["log: b over a, 4 rows"]),
                             ("PLOT friends AS hist", ["degrees of 240 vertices, 0 without edges outwards", "degree (edges outwards)", "10 ┤",
                                                       " 1                 2                 4 "]),
                             ("LET lone = SELECT 1 AS src, 2 AS dst; PLOT lone AS hist", ["degrees of 2 vertices, 1 without edges outwards"]),
                             ("PLOT many", ["20000 bodies", "bodies in a square: 1 "]),
                             ("PLOT n AS hist", ["n: value, 60000 values", "how many", "┬"]),
                             ("PLOT log", ["log: 4 rows"]),
                             ("PLOT cell", ["cell: 369 samples", "y (um)", "z (um)", " 600 ┤", "oo soma  ++ axon"]),
                             ("PLOT odd", ["odd: 7 samples", "⠶⠶ other"]), ("PLOT point", ["┤", "5e6"])):
        done = run(statement)
        text = done.stdout.decode()
        check(done.returncode == 0 and b"\033" not in done.stdout, f"{statement}: {done.stderr.decode()}")
        check(all(part in text for part in parts), f"{statement} lacks one of {parts}:\n{text}")
        check(max(map(width_of, text.splitlines())) <= 80, f"{statement}: wider than 80 columns\n{text}")
        check(10 <= len(text.splitlines()) <= 30, f"{statement}: {len(text.splitlines())} lines")


def check_bars():
    """Each of three values has a bar of its own, also at the ends of what doubles hold."""
    for values in (("1.7e308", "-1.7e308", "0"), ("1", "5", "3.3"), ("-2e-300", "0", "7e-300")):
        rows = " UNION ALL ".join(f"SELECT {i} AS a, {value} AS b" for i, value in enumerate(values))
        text = run(f"LET w = {rows}; PLOT w AS hist").stdout.decode()
        lowest = next(line for line in text.splitlines() if line.startswith("0 "))
        check(len(re.findall("█+", lowest)) == 3, f"bars of {values}:\n{text}")


def check_whole():
    """Whole numbers: a bar each, or as many of them in each bar; counts are whole, too."""
    rows = " UNION ALL ".join(f"SELECT {i} AS a, {value} AS b" for i, value in enumerate((3, 4, 5, 5, 7)))
    done = run(f"LET w = {rows}; PLOT w AS hist; PLOT w AS hist TO 'w.svg'")
    lowest = next(line for line in done.stdout.decode().splitlines() if line.startswith("0 "))
    bars = re.findall("█+", lowest)
    check(len(bars) == 2 and abs(len(bars[0]) - 3 * len(bars[1])) <= 3, f"3, 4, 5 and 7:\n{done.stdout.decode()}")
    ticks = re.findall(r">(-?[\d.]+)</text>", (folder / "w.svg").read_text())
    check(sorted(ticks) == ["0", "1", "2", "3", "4", "5", "6", "7"], f"3, 4, 5 and 7: {ticks}")
    rows = "WITH RECURSIVE s(i) AS (SELECT -250 UNION ALL SELECT i + 1 FROM s WHERE i < 749) SELECT i AS a, i AS b FROM s"
    done = run(f"LET w = {rows}; PLOT w AS hist TO 'w.svg'")
    boxes = [tuple(map(float, b)) for b in re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" fill="#1f6cb0"',
                                                      (folder / "w.svg").read_text(), re.I)]
    check(len(boxes) == 20 and len({b[3] for b in boxes}) == 1, f"a thousand numbers, fifty in each bar: {len(boxes)} {boxes[:2]}")


def check_neighbours():
    """Bars of doubles next to each other; means of blocks whose sum no double holds."""
    for values in (("1", "1.0000000000000002"), ("1", "1.0000000000000002", "1.0000000000000004"), ("-4e15", "-3999999999999999.5")):
        rows = " UNION ALL ".join(f"SELECT {i} AS a, {value} AS b" for i, value in enumerate(values))
        done = run(f"LET w = {rows}; PLOT w AS hist")
        lowest = next(line for line in done.stdout.decode().splitlines() if line.startswith("0 "))
        check(len(re.findall("█+", lowest)) >= 1 and lowest.count("█") > 20, f"bars of {values}:\n{done.stdout.decode()}")
        check(f"b, from {float(values[0]):.17g} to {float(values[-1]):.17g}" in done.stdout.decode(), f"{values}: no range")
    done = run("LET w = SELECT value AS i, 1.0 + (value % 2) * 2.3e-16 AS b FROM json_each('[0,1,2,3,4,5,6]'); PLOT w AS hist TO 'ulp.svg'")
    check(done.returncode == 0, f"bars of neighbours: {done.stderr.decode()}")
    cells = "SELECT a.x AS x, b.x AS y, CASE (a.x + b.x) % 3 WHEN 0 THEN {} ELSE 1.5e308 END AS value FROM side a, side b WHERE b.x < 2"
    series = "CREATE TABLE side AS WITH RECURSIVE s(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM s WHERE x < 1300) SELECT x FROM s;"
    for low in ("1.6e308", "-1.5e308"):
        done = run(f"{series} LET w = {cells.format(low)}; PLOT w")
        text = done.stdout.decode()
        check(done.returncode == 0 and "value: " in text and sum(map(text.count, "░▒▓█")) > 80, f"means near {low}:\n{text}")


def check_curves():
    """Sizes that rise by factors stand on a logarithmic axis, others do not; the legend is above all lines."""
    (folder / "sizes.csv").write_text("n,one,the second of them,third\n" + "".join(f"{2 ** i},{i},{i + 5},{20 - i}\n" for i in range(4, 15)))
    done = run("LOAD w FROM 'sizes.csv' AS csv; PLOT w TO 'w.svg'; PLOT w")
    tree = xml.etree.ElementTree.parse(folder / "w.svg")
    texts = {e.text: float(e.get("y")) for e in tree.iter("{http://www.w3.org/2000/svg}text") if e.text}
    check({"100", "1000", "10000"} <= set(texts), f"a logarithmic axis: {sorted(texts)}")
    check(max(texts[t] for t in ("one", "the second of them", "third")) < min(y for t, y in texts.items() if re.fullmatch(r"[\d.]+", t)),
          f"a legend above the lines: {texts}")
    check(re.search(r" 100 +1000 +10000", done.stdout.decode()) is not None, done.stdout.decode())
    text = run("LET w = WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 1000) SELECT i AS a, i AS b FROM s; PLOT w")
    check(re.search(r" 100 +200 +300", text.stdout.decode()) is not None, f"an even axis:\n{text.stdout.decode()}")


def check_spy():
    """A matrix that a picture has pixels for is drawn entry by entry; counts have whole numbers."""
    done = run("GENERATE p AS path(841); PLOT p TO 'p.svg'; GENERATE q AS path(2000); PLOT q TO 'q.svg'")
    check(done.returncode == 0, done.stderr.decode())
    svg = (folder / "p.svg").read_text()
    width, height, rows = decode_png(base64.b64decode(re.search(r"base64,([^\"]*)", svg).group(1)))
    inked = {(x, y) for y in range(height) for x in range(width) if rows[y][x] != (255, 255, 255)}
    check((width, height) == (841, 841) and inked == {(i + 1, i) for i in range(840)}, f"a path of 841: {width} x {height}, {len(inked)} cells")
    check(">entries<" not in svg, "a colour bar of ones")
    svg = (folder / "q.svg").read_text()
    ticks = re.findall(r">(\d+\.\d+)</text>", svg)
    check(">entries<" in svg and ticks == [], f"counts that are no whole numbers: {ticks}")
    text = run("GENERATE q AS path(2000); PLOT q").stdout.decode()
    check(re.search(r"entries: 1 ░.*█ 7$", text, re.M) is not None, f"in characters blocks are larger:\n{text}")


def check_memory():
    """What a figure gathers counts against memory_limit, and is refused before it is taken."""
    table = "WITH RECURSIVE s(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < 200000) SELECT i AS a, i AS b FROM s"
    done = run(f"LET t = {table}; PLOT t TO 't.png'; SET memory_limit = '10MB'; PLOT t")
    error = done.stderr.decode()
    check(done.returncode == 1 and "drawing t needs 6.4 MB more, and memory_limit leaves" in error, error)
    done = run(f"LET t = {table}; SET memory_limit = '10MB'; PLOT t AS hist; LET part = SELECT * FROM t LIMIT 1000; PLOT part")
    check(done.returncode == 0, done.stderr.decode())
    done = run(f"LET t = {table}; SET memory_limit = '15MB'; PLOT t AS scatter TO 't.png'; PLOT t AS scatter TO 't.svg'")
    error = done.stderr.decode()
    check(done.returncode == 1 and "t: drawn to t.png" in error and "drawing t needs 8.4 MB more, and" in error, error)
    done = run(f"LET t = {table}; SET memory_limit = '30MB'; PLOT t AS scatter TO 't.svg'; PLOT t TO 't.svg'")
    check(done.returncode == 0, done.stderr.decode())


def check_extremes():
    """The least and the largest numbers, one alone and far apart: pictures without nan, in all of the room there is."""
    for x, y in (("5e-324", "5e-324"), ("1e-323", "0"), ("2.3e-308", "2.2e-308"), ("1.7e308", "1"), ("1.7e308", "1.7e308"),
                 ("1", "1.7e308"), ("1.5e11", "1e-9")):
        (folder / "points.csv").write_text(f"m,x,y,z,vx,vy,vz\n1,{x},{y},0,0,0,0\n1,-{x},-{y},0,0,0,0\n")
        (folder / "values.csv").write_text(f"i,value\n0,{x}\n1,{x}\n2,{y}\n")
        done = run("LOAD p FROM 'points.csv' AS bodies; LOAD w FROM 'values.csv' AS csv;" +
                   "".join(f"PLOT {a} TO '{a.replace(' ', '')}.{e}';" for a in ("p", "w", "w AS hist") for e in ("svg", "png")))
        check(done.returncode == 0, f"{x}, {y}: {done.returncode} {done.stderr.decode()}")
        for name in ("p.svg", "w.svg", "wAShist.svg"):
            check(re.search(r"[\"-](nan|inf)\b", (folder / name).read_text()) is None, f"{x}, {y}: nan in {name}")
    (folder / "values.csv").write_text("i,value\n0,0\n1,5e-324\n2,1e-323\n")
    done = run("LOAD w FROM 'values.csv' AS csv; PLOT w AS hist TO 'w.svg'; PLOT w AS line TO 'l.svg'")
    bars, frame = ((folder / name).read_text().count("<rect") for name in ("w.svg", "l.svg"))
    check(done.returncode == 0 and bars == frame + 3, f"half of the least step is nothing: {bars} bars, {frame} of the frame")
    text = run("LOAD p FROM 'points.csv' AS bodies; PLOT p").stdout.decode()
    check(max(map(width_of, text.splitlines())) > 70, f"wide bodies are drawn narrow:\n{text}")


def check_names():
    """What a column's name holds neither steers the terminal nor breaks the picture."""
    names = run("LET w = SELECT 1 AS a, 2 AS \"b\033[31m<i>&\n\xa9'\" UNION ALL SELECT 2, 3; PLOT w; PLOT w TO 'w.svg'")
    check(names.returncode == 0 and b"\033" not in names.stdout, f"control characters: {names}")
    tree = xml.etree.ElementTree.parse(folder / "w.svg")
    texts = [e.text for e in tree.iter("{http://www.w3.org/2000/svg}text") if e.text]
    check("b\\x1B[31m<i>& \xa9'" in texts, f"a name: {texts}")
    svg = subprocess.run([LACIS, "-c", b"LET w = SELECT 1 AS a, 2 AS \"\xff" + b"\xc3\xa9" * 31 + b"\" UNION ALL SELECT 2, 3; PLOT w TO 'w.svg'"],
                         cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=100)
    check(svg.returncode == 0, f"not UTF-8: {svg}")
    xml.etree.ElementTree.parse(folder / "w.svg")


def check_heights():
    """A figure and the prompt below it fill the screen, from 8 rows of data to 40."""
    for rows, columns in ((24, 80), (48, 160), (9, 80), (200, 80)):
        for name in ("v", "n AS hist", "cell", "friends AS hist"):
            text = run_on_terminal(f"PLOT {name}", size=(rows, columns)).decode()
            data = sum("│" in line or "┤" in line for line in text.splitlines())
            lines = len(text.splitlines())
            good = data == 8 if rows == 9 else data == 40 if rows == 200 else 8 < data <= 40 and (lines == rows - 1 or data == 40 and lines < rows)
            check(good,
                  f"{name} at {rows} x {columns}: {lines} lines, {data} of data\n{text}")
    text = run_on_terminal("PLOT plate", size=(24, 80)).decode()
    check(len(text.splitlines()) == 23, f"a heat map at 24 x 80:\n{text}")


def check_terminals():
    colours = re.compile(rb"\033\[38;(\d);")
    for more, expected in (({"TERM": "xterm-256color"}, b"5"), ({"TERM": "xterm", "COLORTERM": "truecolor"}, b"2"),
                           ({"TERM": "xterm", "NO_COLOR": "1"}, None), ({"TERM": "dumb"}, None),
                           ({"TERM": "xterm", "LACIS_PLOT": "plain"}, None),
                           ({"TERM": "xterm-kitty", "LACIS_PLOT": "text"}, b"5")):
        for name in ("plate", "v", "cell"):
            out = run_on_terminal(f"PLOT {name}", **more)
            found = set(colours.findall(out))
            check(found == ({expected} if expected else set()), f"{name}, {more}: colours {found}")
            check((b"\033[38" in out) == (expected is not None), f"{name}, {more}")
            check("▀".encode() in out or name != "plate" or expected is None, f"{more}: no half blocks")
    check_256()
    check_letters()
    for out in (run_on_terminal("PLOT plate", TERM="xterm-kitty"), run("PLOT plate", LACIS_PLOT="kitty").stdout):
        pieces = re.findall(rb"\033_G([^;]*);([^\033]*)\033\\", out)
        check(len(pieces) > 1 and b"a=T,f=100" in pieces[0][0], "kitty: the first piece")
        check(all(b"m=1" in head for head, _ in pieces[:-1]) and b"m=0" in pieces[-1][0], "kitty: more and last")
        check(all(len(data) <= 4096 for _, data in pieces), "kitty: long pieces")
        check(decode_png(base64.b64decode(b"".join(data for _, data in pieces)))[:2] == (1600, 1067), "kitty: the image")


def of_256(number):
    """Red, green and blue of one of the 216 that terminals of 256 colours mix."""
    return tuple((0, 95, 135, 175, 215, 255)[(number - 16) // part % 6] for part in (36, 6, 1))


def luminance(pixel):
    """Relative, as WCAG's contrast takes it."""
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in pixel]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def check_256():
    """Of 256 colours a bar has those of its picture, rising in lightness and none of them grey; lines are seen on black."""
    for name in ("plate", "n", "many", "GENERATE p AS rmat(scale = 11); PLOT p"):
        lines = run_on_terminal(name if " " in name else f"PLOT {name}", TERM="xterm-256color").decode().splitlines()
        bar = [int(c) for c in re.findall(r"\033\[38;5;(\d+)m█", lines[-1])]
        lights = [luminance(of_256(c)) for c in dict.fromkeys(bar)]
        check(len(bar) == 32 and lights == sorted(lights) and len(lights) >= 6, f"{name}: a bar of {bar}")
        check(all(max(of_256(c)) - min(of_256(c)) > 60 for c in bar), f"{name}: grey in {bar}")
        seen = {int(c) for line in lines[:-1] for c in re.findall(r"\033\[[34]8;5;(\d+)m", line)}
        check(seen <= set(bar), f"{name}: {seen - set(bar)} are not in the bar {bar}")
    columns = ", ".join(f"{i} + i AS c{i}" for i in range(8))
    lines = f"LET w = WITH RECURSIVE s(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < 40) SELECT i, {columns} FROM s; PLOT w"
    for more, pattern in (({"TERM": "xterm-256color"}, r"\033\[38;5;(\d+)m━"), ({"TERM": "xterm", "COLORTERM": "truecolor"}, r"\033\[38;2;(\d+;\d+;\d+)m━")):
        keys = re.findall(pattern, run_on_terminal(lines, **more).decode())
        shown = [tuple(map(int, k.split(";"))) if ";" in k else of_256(int(k)) for k in keys]
        check(len(set(shown)) == 8, f"eight lines: {shown}")
        check(all((luminance(c) + 0.05) / 0.05 > 4 for c in shown), f"too dark on black: {[(c, luminance(c)) for c in shown]}")


def check_letters():
    """Without colours lines and kinds of dendrites are told apart by letters, which the legend has."""
    for name, keys in (("v", ("⠶⠶ probe 0", "++ probe 1")), ("cell", ("oo soma", "** apical dendrite"))):
        for more in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}):
            *data, legend = run_on_terminal(f"PLOT {name}", **more).decode().splitlines()
            check(all(key in legend for key in keys), f"{name}, {more}: {legend}")
            check(all(letter in "".join(data[2:-4]) for letter in (keys[1][0], "⡤" if name == "v" else "o")), f"{name}, {more}:\n" + "\n".join(data))
    one = run("LET bars = SELECT src, dst FROM friends; PLOT bars AS hist")
    drawn = "".join(re.split("[│┤]", line, maxsplit=1)[-1] for line in one.stdout.decode().splitlines()[2:-3])
    check(one.returncode == 0 and re.search("[▁-█]", drawn) and not re.search("[o+x*#@%&]", drawn), f"one series has no letters:\n{drawn}")


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
        os.execve(LACIS, [str(LACIS), "-c", SET_UP, "-c", statement], environment(TERM="xterm", **more))
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


def check_sixels():
    """The picture of a file, smaller; asked for once, and only where there may be an answer."""
    run("PLOT plate TO 'large.png'; PLOT many TO 'many.png'")
    for name, file in (("plate", "large.png"), ("many", "many.png")):
        data = run(f"PLOT {name}", LACIS_PLOT="sixel").stdout
        width, height, rows = decode_sixel(data.rstrip(b"\n"))
        large = decode_png((folder / file).read_bytes())[2]
        check((width, height) == (720, 480), f"sixels: {width} x {height}")
        worst = 0
        for y in range(0, height, 5):
            for x in range(0, width, 3):
                box = [large[j][i] for j in range(y * 1067 // 480, (y + 1) * 1067 // 480)
                       for i in range(x * 1600 // 720, (x + 1) * 1600 // 720)]
                worst = max(worst, *(abs(sum(p[c] for p in box) / len(box) - rows[y][x][c]) for c in range(3)))
        check(worst < 24, f"sixels of {name}: off by {worst}")
    image = b"\033P0;1;0q"
    out, asked = answering("PLOT plate; PLOT cell", b"\033[?62;4;22c")
    check(asked == 1 and out.count(image) == 2, f"two pictures, asked {asked} times, {out.count(image)} images")
    for answer in (b"\033[?1;2c", b"\033[?64;1;44;14;40c", b"\033[?4c", b""):
        out, asked = answering("PLOT plate", answer)
        check(asked == 1 and image not in out and "▀".encode() in out, f"{answer}: asked {asked} times")
    out, asked = answering("PLOT plate", b"\033[?62;4c", typed=b"ls")
    check(asked == 0 and image not in out, "asked although somebody types")
    for more in ({"NO_COLOR": "1"}, {"LACIS_PLOT": "text"}):
        out, asked = answering("PLOT plate", b"\033[?62;4c", **more)
        check(asked == 0 and image not in out, f"{more}: asked {asked} times")


def check_refusals():
    (folder / "none.mtx").write_text("%%MatrixMarket matrix coordinate real general\n5 5 0\n")
    for statement, message in (("PLOT friends AS heat", "heat maps are of grids and dense matrices; PLOT friends AS spy shows where friends has entries\n"),
                               ("LET w = SELECT src, dst, 2.5 AS value FROM friends; PLOT w AS heat",
                                "PLOT w AS spy shows where w has entries, LET v = SELECT value FROM w; PLOT v AS hist how large"),
                               ("PLOT plate AS spy", "spy shows graphs"),
                               ("PLOT plate AS line", "a line needs one dimension"),
                               ("PLOT deep AS line", "LET l = SELECT x, value FROM deep WHERE y = 0 AND z = 0"),
                               ("GENERATE f AS constant(3, 2, fields = 'u,v'); PLOT f AS line",
                                "LET l = SELECT x, u AS value FROM f WHERE y = 0"),
                               ("PLOT plate AS scatter", "scatter shows bodies"),
                               ("PLOT few AS hist", "histograms are of graphs"),
                               ("PLOT two", "is none of them"),
                               ("LOAD none FROM 'none.mtx'; PLOT none", "none has no entries"),
                               ("PLOT rod AS heat", "needs two dimensions"),
                               ("PLOT nobody", "nobody"),
                               ("PLOT plate AS pie", "expected line, scatter, heat, spy, hist or tree"),
                               ("PLOT plate AS tree", "plate is no table"),
                               ("LET c = SELECT id, type, x, y, parent FROM cell; PLOT c AS tree", "c lacks z, radius"),
                               ("LET c = SELECT id, type, x, y, 9e999 AS z, radius, parent FROM cell; PLOT c",
                                "no finite number"),
                               ("PLOT plate TO 'x.gif'", "a picture's name ends in .png or .svg"),
                               ("PLOT plate TO 'none/x.png'", "No such file or directory"),
                               ("PLOT plate TO x", "a file name in '...'"),
                               ("GENERATE e AS constant(3); LET e = SELECT x, 9e999 AS value FROM e; PLOT e", "no finite number")):
        done = run(statement)
        check(done.returncode == 1 and message in done.stderr.decode(), f"{statement}: {done.stderr.decode()}")
        check(done.stdout == b"", f"{statement}: wrote something")
    done = run("PLOT plate", LACIS_PLOT="pixel")
    check(done.returncode == 1 and b"may be kitty, sixel, text or plain" in done.stderr, "a wrong LACIS_PLOT")


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    shutil.copytree(SOURCE / "datasets", folder / "datasets")
    check_files()
    check_text()
    check_bars()
    check_extremes()
    check_whole()
    check_neighbours()
    check_curves()
    check_spy()
    check_memory()
    check_names()
    check_heights()
    check_terminals()
    check_sixels()
    check_refusals()
print("\n".join(failures) or "plots are as they should be")
sys.exit(1 if failures else 0)
