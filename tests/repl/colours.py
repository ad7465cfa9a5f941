#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The colours of PLOT as people see them who lack the cones for red, green or blue (simulated after Machado, Oliveira and
Fernandes, A physiologically-based model for simulation of color vision deficiency, 2009, of full severity, in linear RGB), or
who see no colours: those of series stay apart in CIE Lab, and those of maps rise in lightness. All are read from pictures.
colours.py LACIS SOURCE
"""
import itertools
import re

from plot_support import check, decode_png, finish, folder, run, run_on_terminal

SEEN = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
    "achromatopsia": ((0.2126, 0.7152, 0.0722),) * 3}
TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
WHITE = (0.95047, 1, 1.08883)
EIGHT = "LET w = WITH RECURSIVE s(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < 40) SELECT i, " + \
    ", ".join(f"i + {i} AS c{i}" for i in range(8)) + " FROM s; PLOT w"


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def lab(pixel, eyes):
    """CIE L*, a*, b* of red, green and blue (0 to 255) as these eyes see them."""
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in pixel]
    seen = [min(max(c, 0), 1) for c in times(SEEN[eyes], linear)]
    x, y, z = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116
               for t in (v / w for v, w in zip(times(TO_XYZ, seen), WHITE)))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def of_256(number):
    return tuple((0, 95, 135, 175, 215, 255)[(number - 16) // part % 6] for part in (36, 6, 1))


def hexed(text):
    return tuple(int(text[i:i + 2], 16) for i in (0, 2, 4))


def nearest_pair(colours, eyes):
    seen = [lab(c, eyes) for c in colours]
    return min((sum((a - b) ** 2 for a, b in zip(seen[i], seen[j])) ** 0.5, i, j)
               for i, j in itertools.combinations(range(len(seen)), 2))


def check_series(where, colours, five, eight, grey):
    """five, eight: how far the first five (types of a morphology, most plots) and all eight are apart at least."""
    check(len(set(colours)) == 8, f"{where}: {colours}")
    for eyes in SEEN:
        for count, least in ((5, five), (8, eight)):
            apart, i, j = nearest_pair(colours[:count], eyes)
            check(apart >= (grey if eyes == "achromatopsia" else least),
                  f"{where}, {eyes}: of {count} series {i} and {j} are only {apart:.1f} apart")


def check_map(where, colours, least, steps):
    """least: how much lighter each of them is than the one before, if they are all of the map's; rounding to 8 bits shows."""
    for eyes in SEEN:
        light = [lab(c, eyes)[0] for c in colours]
        rise = min(b - a for a, b in zip(light, light[1:]))
        check(len(light) >= steps and rise >= least, f"{where}, {eyes}: {len(light)} colours, one of them {rise:.2f} lighter")
        check(light[-1] - light[0] > 55, f"{where}, {eyes}: from {light[0]:.0f} to {light[-1]:.0f}")


def series():
    svg = run(EIGHT + " TO 'w.svg'; PLOT w").stdout and (folder / "w.svg").read_text()
    lines = dict.fromkeys(re.findall(r'stroke="#([0-9a-f]{6})" stroke-width="5"', svg))
    check_series("series in files", [hexed(c) for c in lines], 22, 15, 5)
    for where, more, pattern in (("series in 256 colours", {"TERM": "xterm-256color"}, r"\033\[38;5;(\d+)m━"),
                                 ("series in 24 bits", {"TERM": "xterm", "COLORTERM": "truecolor"}, r"\033\[38;2;(\d+;\d+;\d+)m━")):
        keys = dict.fromkeys(re.findall(pattern, run_on_terminal(EIGHT, **more).decode()))
        colours = [tuple(map(int, k.split(";"))) if ";" in k else of_256(int(k)) for k in keys]
        check_series(where, colours, 17, 11 if "256" in where else 15, 4 if "256" in where else 5)


def maps():
    run("PLOT plate TO 'plate.png'; PLOT plate")
    rows = decode_png((folder / "plate.png").read_bytes())[2]
    columns = [dict.fromkeys(row[x] for row in rows) for x in range(1320, 1400)]
    bar = min((c for c in columns if len(c) > 200), key=len)  # within the colour bar, beside its ticks
    ramp = [c for c in reversed(bar) if max(c) - min(c) > 20]  # without the page's white
    check_map("the colour bar", ramp, -0.15, 250)
    text = run_on_terminal("PLOT plate", TERM="xterm-256color").decode().splitlines()[-1]
    check_map("the map in 256 colours", [of_256(int(c)) for c in dict.fromkeys(re.findall(r"\033\[38;5;(\d+)m█", text))], 0.7, 9)


series()
maps()
finish()
