#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PLOT into files: pictures, PNG and SVG, are decoded and looked at. plot_files.py LACIS SOURCE
"""
import base64
import re
import subprocess
import sys
import xml.etree.ElementTree

from plot_support import LACIS, check, decode_png, finish, folder, light, run


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


check_files()
check_names()
finish()
