#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PLOT of data at the edge: bars, scales, extremes, memory, and what cannot be drawn says why. plot_data.py LACIS SOURCE
"""
import base64
import re
import xml.etree.ElementTree

from plot_support import check, decode_png, finish, folder, run, width_of


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


check_bars()
check_whole()
check_neighbours()
check_curves()
check_spy()
check_memory()
check_extremes()
check_refusals()
finish()
