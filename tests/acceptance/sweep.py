#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SWEEP against what is known: solutions of Laplace's, Poisson's and the heat equation, and how errors fall with the grid;
edges whose steady states are known; the step at which UNTIL stops, however it is computed; runs taken up from files after
a kill.   sweep.py LACIS SOURCE"""
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

from program import Program, run_all

LACIS = Program(sys.argv[1])
ON = os.environ.get("LACIS_TEST_ON", "")  # "ON GPU": tests/gpu/run

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {last}) "
FIVE = "(u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) / 4"
NINE = "(4 * (u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) + u[-1,-1] + u[1,-1] + u[-1,1] + u[1,1]) / 20"


def plane(name, last, value):
    """A grid of (last + 1)^2 cells, `value` in terms of x and y."""
    return (f"LET {name} = {NUMBERS.format(last=last)}, c AS (SELECT a.i AS x, b.i AS y FROM n a, n b) "
            f"SELECT x, y, {value} AS value FROM c;")


def line(name, last, value):
    return f"LET {name} = {NUMBERS.format(last=last)} SELECT i AS x, {value} AS value FROM n;"


def error_of(script, exact):
    """The greatest difference of grid h, made by the script, from exact(x, y)."""
    rows = LACIS.good(script + "SELECT * FROM h;")
    head = max(i for i, row in enumerate(rows) if "value" in row)
    cells = [[float(v) for v in row] for row in rows[head + 1:]]
    assert cells, "no cells"
    return max(abs(row[-1] - exact(*row[:-1])) for row in cells)


def orders(errors):
    return [math.log2(coarse / fine) for coarse, fine in zip(errors, errors[1:])]


def expect_order(what, errors, wanted):
    found = orders(errors)
    assert all(abs(order - wanted) < 0.3 for order in found), f"{what}: errors {errors}, orders {found}"
    return f"{what} {found[-1]:.2f}"


# ------------------------------------------------------------------------------- steady states


def solved(last, border, step, more=""):
    """Jacobi from zeros inside a border of given values, until rounding."""
    inside = f"CASE WHEN x IN (0, {last}) OR y IN (0, {last}) THEN {border} ELSE 0.0 END"
    return (plane("g", last, inside) +
            f"LET h = SWEEP g STEP {step} STEPS 200000 UNTIL max < 2e-15 EVERY 100 {more} {ON};")


def harmonic_polynomials():
    """Differences of second order are exact for them: nothing but rounding is left."""
    off = error_of(solved(24, "(x * x - y * y) / 576.0", FIVE), lambda x, y: (x * x - y * y) / 576)
    assert off < 1e-11, off
    off = error_of(solved(20, "x * y / 400.0", NINE), lambda x, y: x * y / 400)
    assert off < 1e-11, off


def laplace_orders():
    """u = sin(pi x) sinh(pi y) / sinh(pi) on the unit square: second order with 5 points, sixth with 9."""
    def errors(step, sizes):
        found = []
        for n in sizes:
            exact = lambda x, y: math.sin(math.pi * x / n) * math.sinh(math.pi * y / n) / math.sinh(math.pi)
            border = f"sin(pi() * x / {n}) * sinh(pi() * y / {n}) / sinh(pi())"
            found.append(error_of(solved(n, border, step), exact))
        return found
    return expect_order("5 points", errors(FIVE, (8, 16, 32)), 2) + ", " + expect_order(
        "9 points", errors(NINE, (4, 8, 16)), 6)


def poisson_order():
    """9 points with the source f + h^2/12 of its Laplacian: fourth order. u = sin(pi x) sin(pi y)."""
    found = []
    for n in (6, 12, 24):
        h = 1 / n
        f = -2 * math.pi ** 2  # times u, as is each Laplacian
        factor = -6 * h * h / 20 * (f + h * h / 12 * f * f)
        source = plane("s", n, f"{factor!r} * sin(pi() * x / {n}) * sin(pi() * y / {n})")
        exact = lambda x, y: math.sin(math.pi * x / n) * math.sin(math.pi * y / n)
        found.append(error_of(source + solved(n, "0.0", NINE, "SOURCE s"), exact))
    return expect_order("9 points, a source", found, 4)


def edges():
    """Steady states in one dimension are straight lines; each kind of edge says which."""
    n = 16
    cases = (
        # beyond the left face (cell -1) lies 1, beyond the right one (cell n) 3
        ("EDGE left fixed 1 EDGE right fixed 3", lambda x: 1 + 2 * (x + 1) / (n + 1)),
        ("EDGE left fixed 1 EDGE right neumann 0.25", lambda x: 1 + 0.25 * (x + 1)),
        ("EDGE left fixed 1 EDGE right clamp", lambda x: 1),
        # u + 2 du/dn = 0 on the face, half a cell beyond cell n - 1
        ("EDGE left fixed 1 EDGE right robin 1 2 0", lambda x: 1 - (x + 1) / (n + 2.5)),
        ("EDGE left neumann 0.5 EDGE right robin 3 1 0", lambda x: 0.5 * (n - 0.5 - x) + 0.5 / 3),
        ("EDGE left robin 1 0 2 EDGE right fixed 0", lambda x: 2 - 2 * (x + 0.5) / (n + 0.5)),
    )
    for clauses, exact in cases:
        script = (line("g", n - 1, "0.0") +
                  f"LET h = SWEEP g STEP (u[-1] + u[1]) / 2 STEPS 200000 UNTIL max < 1e-15 EVERY 100 {clauses} {ON};")
        off = error_of(script, exact)
        assert off < 1e-10, f"{clauses}: off by {off}"


# ------------------------------------------------------------------------------- heat


def heat_modes():
    """A wave on the grid decays by the same factor each step: periodic, mirrored, held and clamped ones."""
    n, r, steps = 32, 0.2, 60
    cases = (
        ("EDGE periodic", n, lambda x: 2 * math.pi * x / n, 2 * math.pi / n),
        ("EDGE mirror", n + 1, lambda x: math.pi * x / n, math.pi / n),
        ("EDGE clamp", n, lambda x: math.pi * (x + 0.5) / n, math.pi / n),
    )
    for clauses, cells, angle, k in cases:
        factor = (1 - 4 * r * math.sin(k / 2) ** 2) ** steps
        value = {"EDGE periodic": f"cos(2 * pi() * i / {n})", "EDGE mirror": f"cos(pi() * i / {n})",
                 "EDGE clamp": f"cos(pi() * (i + 0.5) / {n})"}[clauses]
        off = error_of(line("g", cells - 1, value) +
                       f"LET h = SWEEP g STEP u + {r} * (u[-1] - 2*u + u[1]) STEPS {steps} {clauses} {ON};",
                       lambda x: factor * math.cos(angle(x)))
        assert off < 1e-13, f"{clauses}: off by {off}"


def heat_orders():
    """u_t = u_xx to t = 0.1: second order, and fourth where dt = h^2 / 6."""
    def errors(r):
        found = []
        for n in (8, 16, 32):
            steps = round(0.1 * n * n / r)
            t = steps * r / (n * n)
            exact = lambda x: math.exp(-math.pi ** 2 * t) * math.sin(math.pi * x / n)
            found.append(error_of(line("g", n, f"CASE WHEN i = {n} THEN 0.0 ELSE sin(pi() * i / {n}) END") +
                                  f"LET h = SWEEP g STEP u + {r!r} * (u[-1] - 2*u + u[1]) STEPS {steps} {ON};", exact))
        return found
    return expect_order("dt = 0.4 h^2", errors(0.4), 2) + ", " + expect_order("h^2 / 6", errors(1 / 6), 4)


def waves():
    """u_tt = u_xx by two fields: a step of leapfrog at the limit of stability carries a pulse on exactly."""
    n = 40
    def test(folder):
        return LACIS.good("LET g = " + NUMBERS.format(last=n - 1) + ", m(i) AS (SELECT 0 UNION ALL SELECT 1) SELECT n.i AS x, "
                          "m.i AS y, CASE WHEN n.i = 10 THEN 1.0 ELSE 0.0 END AS u, CASE WHEN n.i = 9 THEN 1.0 ELSE 0.0 END "
                          "AS v FROM n, m;"
                          f"LET h = SWEEP g STEP u = u[-1,0] + u[1,0] - v, v = u STEPS 55 EDGE periodic {ON};"
                          "SELECT x FROM h WHERE u != 0 AND y = 0;", folder=folder)
    with tempfile.TemporaryDirectory() as folder:
        rows = test(folder)
    assert rows == [["x"], [str((10 + 55) % n)]], rows


# ------------------------------------------------------------------------------- UNTIL, resuming


def until():
    """The same step and the same bits of the change, for any threads and levels, in f32 and f64."""
    for type_ in ("f32", "f64"):
        seen = set()
        for threads in (1, 2, 3):
            for levels in ("", "LEVELS 1", "LEVELS 4", "LEVELS 7"):
                rows = LACIS.good(f"SET threads = {threads};" + plane("g", 60, "CASE WHEN y = 60 THEN 1.0 ELSE 0.0 END") +
                                  f"LET h = SWEEP g STEP {FIVE} STEPS 100000 UNTIL l2 < 2e-4 EVERY 8 TYPE {type_} {levels} "
                                  f"{ON}; SELECT step, max, l2 FROM h_change ORDER BY step DESC LIMIT 3;")
                seen.add(str(rows))
        assert len(seen) == 1, seen
    LACIS.good("GENERATE g AS noise(5, 4, seed = 1);"  # STEPS may be more than there is memory for rows of h_change
               f"LET h = SWEEP g STEP u / 2 STEPS 1e15 UNTIL max < 1e-9 EDGE clamp {ON};")


def killed():
    """kill -9 during a run that writes files: each that is there is whole, and the last one leads to the same end."""
    step = "STEP " + NINE + " + 0.001 * sin(t)"
    grid = "GENERATE g AS noise(nx = 301, ny = 203, seed = 3, type = 'f32');"
    with tempfile.TemporaryDirectory() as folder:
        script = f"{grid} LET r = SWEEP g {step} STEPS 4000 KEEP EVERY 50 TO 's_*.npy' {ON};"
        process = subprocess.Popen([LACIS.path, "-c", script], cwd=folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        begin = time.time()
        while len([f for f in os.listdir(folder) if f.endswith(".npy")]) < 3 and time.time() < begin + 100:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        files = sorted(f for f in os.listdir(folder) if f.startswith("s_") and f.endswith(".npy"))
        assert len(files) >= 3, files
        last = int(files[-1][2:-4])
        LACIS.good(f"{grid} LET r = SWEEP g {step} STEPS {last + 30} {ON}; SAVE r TO 'r.npy';"
                   f"LOAD k FROM '{files[-1]}'; LET q = SWEEP k {step} STEPS 30 LEVELS 3; SAVE q TO 'q.npy';",
                   folder=folder)
        with open(os.path.join(folder, "r.npy"), "rb") as a, open(os.path.join(folder, "q.npy"), "rb") as b:
            assert a.read() == b.read(), f"otherwise from step {last}"
        return f"taken up from step {last}"


def unread():
    """A COEFF that STEP does not read is warned of; "inf" in an expression is the number."""
    call = f"GENERATE g AS noise(9, 7, seed = 1); SWEEP g STEP u + k * inf COEFF k = g COEFF inf = g SOURCE g {ON};"
    code, _, err = LACIS.run(call)
    assert code == 0 and err.count("warning") == 1 and "warning: COEFF inf: STEP does not read it" in err, err


if __name__ == "__main__":
    sys.exit(run_all([harmonic_polynomials, laplace_orders, poisson_order, edges, heat_modes, heat_orders, waves, until,
                      killed, unread]))
