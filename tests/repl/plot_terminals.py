#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PLOT on terminals: which of them get colours, which images (kitty's, sixels), asked and unasked. plot_terminals.py LACIS SOURCE
"""
import base64
import re

from plot_support import answering, check, decode_png, decode_sixel, finish, folder, luminance, run, run_on_terminal


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
    check_kitty()


def shown_by_kitty(out):
    """Columns, rows and the decoded picture of what kitty is sent."""
    pieces = re.findall(rb"\033_G([^;]*);([^\033]*)\033\\", out)
    pieces = [p for p in pieces if b"a=q" not in p[0]]
    check(len(pieces) > 1 and b"a=T,f=100" in pieces[0][0], "kitty: the first piece")
    check(all(b"m=1" in head for head, _ in pieces[:-1]) and b"m=0" in pieces[-1][0], "kitty: more and last")
    check(all(len(data) <= 4096 for _, data in pieces), "kitty: long pieces")
    columns, rows = map(int, re.search(rb"c=(\d+),r=(\d+)", pieces[0][0]).groups())
    return columns, rows, decode_png(base64.b64decode(b"".join(data for _, data in pieces)))


def check_kitty():
    """The picture has the shape of the columns and rows that it is to fill, and they fit the window with the prompt."""
    for out in (run_on_terminal("PLOT plate", TERM="xterm-kitty"), run("PLOT plate", LACIS_PLOT="kitty").stdout):
        columns, rows, (width, height, _) = shown_by_kitty(out)
        check((columns, rows, width, height) == (80, 27, 1600, 1080), f"kitty: {columns} x {rows}, {width} x {height} pixels")
    for lines, across, cell in ((24, 80, (7, 17)), (50, 120, (7, 17)), (60, 200, (20, 40)), (24, 200, (9, 18)), (24, 80, (0, 0))):
        out = run_on_terminal("PLOT v", size=(lines, across), pixels=(across * cell[0], lines * cell[1]), TERM="xterm-kitty")
        columns, rows, (width, height, _) = shown_by_kitty(out)
        wide, high = columns * (cell[0] or 1), rows * (cell[1] or 2)
        check(columns <= min(across, 120) and rows < lines, f"kitty in {across} x {lines}: {columns} x {rows}")
        check(rows == lines - 1 or abs(wide * 2 / 3 - high) <= (cell[1] or 2), f"kitty in {across} x {lines}: {columns} x {rows} is too small")
        check(abs(width / height - wide / high) < 0.01, f"kitty: {width} x {height} pixels in {columns} x {rows} cells of {cell}")
        check(cell[0] == 0 or (width, height) == (wide, high) or width == 1600 < wide, f"kitty scales {width} x {height} to {wide} x {high}")


def of_256(number):
    """Red, green and blue of one of the 216 that terminals of 256 colours mix."""
    return tuple((0, 95, 135, 175, 215, 255)[(number - 16) // part % 6] for part in (36, 6, 1))


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


def mean_below(rows, x, y, width, height):
    """Of what a pixel of a smaller picture stands for, pixels that are in part below it counting in part."""
    def below(at, size, small):
        left, right = at * size / small, (at + 1) * size / small
        return [(i, min(i + 1, right) - max(i, left)) for i in range(int(left), min(int(right) + 1, size))]
    across, down = below(x, len(rows[0]), width), below(y, len(rows), height)
    whole = sum(p for _, p in across) * sum(p for _, p in down)
    return [sum(rows[j][i][c] * p * q for j, q in down for i, p in across) / whole for c in range(3)]


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
                seen = mean_below(large, x, y, width, height)
                worst = max(worst, *(abs(seen[c] - rows[y][x][c]) for c in range(3)))
        check(worst < 24, f"sixels of {name}: off by {worst}")
    for lines, across, cell, expected in ((24, 80, (8, 17), (640, 385)), (70, 190, (8, 17), (1000, 666)), (10, 40, (8, 17), (400, 240))):
        data = run_on_terminal("PLOT v", size=(lines, across), pixels=(across * cell[0], lines * cell[1]), TERM="xterm", LACIS_PLOT="sixel")
        size = decode_sixel(data.rstrip(b"\r\n"))[:2]
        check(size == expected, f"sixels in {across} x {lines}: {size}")
    image = b"\033P0;1;0q"
    out, asked = answering("PLOT plate; PLOT cell", b"\033[?62;4;22c")
    check(asked == 1 and out.count(image) == 2, f"two pictures, asked {asked} times, {out.count(image)} images")
    for answer in (b"\033[?1;2c", b"\033[?64;1;44;14;40c", b"\033[?4c", b""):
        out, asked = answering("PLOT plate", answer)
        check(asked == 1 and image not in out and "▀".encode() in out, f"{answer}: asked {asked} times")
    kitty, sixels = b"\033_Gi=31;OK\033\\", b"\033[?62;4c"
    for answer, more, expected in ((kitty + b"\033[?62;c", {"TERM": "xterm-kitty"}, b"\033_Ga=T"), (sixels, {"KITTY_WINDOW_ID": "1"}, image),
                                   (b"\033[?64;1c", {"TERM_PROGRAM": "WezTerm"}, "▀".encode()), (b"", {"TERM": "xterm-kitty"}, b"\033_Ga=T"),
                                   (b"\033_Gi=31;EINVAL:cannot\033\\" + sixels, {"KITTY_WINDOW_ID": "1"}, image),
                                   (sixels, {"KITTY_WINDOW_ID": "1", "TMUX": "/tmp/x"}, image),
                                   (b"\033[?1;2c", {"KITTY_WINDOW_ID": "1", "TERM": "screen-256color"}, "▀".encode())):
        out, asked = answering("PLOT plate", answer, **more)
        multiplexed = "TMUX" in more or "screen" in more.get("TERM", "")
        check(asked == 1 and expected in out and (b"a=q" in out) != multiplexed, f"{answer}, {more}: asked {asked} times, {out[:90]}")
    out, asked = answering("PLOT plate", b"\033[?62;4c", typed=b"ls")
    check(asked == 0 and image not in out, "asked although somebody types")
    for more in ({"NO_COLOR": "1"}, {"LACIS_PLOT": "text"}):
        out, asked = answering("PLOT plate", b"\033[?62;4c", **more)
        check(asked == 0 and image not in out, f"{more}: asked {asked} times")


check_terminals()
check_sixels()
finish()
