#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PLOT in characters: titles, axes, legends and bars, as wide and high as the terminal. plot_text.py LACIS SOURCE
"""
import re

from plot_support import check, finish, run, run_on_terminal, width_of


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


check_text()
check_heights()
check_letters()
finish()
