#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes plate.pgm to stdout: a plate of 65 x 49 cells whose edges are held at temperatures between 0 and 100, as an
image that people can read. Along the top 100 degrees, falling along both sides to 0, and a warm strip of 50 degrees in
the middle of the bottom; inside it is cold. What the plate becomes solves Laplace's equation.
"""
WIDTH, HEIGHT = 65, 49


def temperature(x, y):
    if y == 0:
        return 100
    if x in (0, WIDTH - 1):
        return round(100 * (HEIGHT - 1 - y) / (HEIGHT - 1))
    if y == HEIGHT - 1 and 20 <= x <= 44:
        return 50
    return 0


print("P2\n# A plate held at these temperatures along its edges: made by make_plate.py")
print(f"# lacis range 0 100\n{WIDTH} {HEIGHT}\n100")
for row in range(HEIGHT):
    print(" ".join(str(temperature(column, row)) for column in range(WIDTH)))
