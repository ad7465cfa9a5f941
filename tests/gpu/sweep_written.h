/* SPDX-License-Identifier: Apache-2.0
 *
 * Written rules as programs (sweep_written_NAME.cu) and as functions of the host, of the same text.
 */
#ifndef LACIS_TESTS_GPU_SWEEP_WRITTEN_H
#define LACIS_TESTS_GPU_SWEEP_WRITTEN_H

#include <string>

/* A program's kernels, and its lists as texts. */
void sweep_program_heat(void **kernel, std::string *lists);
void sweep_program_wave(void **kernel, std::string *lists);
void sweep_program_line(void **kernel, std::string *lists);

/* heat: f32, two dimensions, u and a coefficient k. */
#define HEAT_TAPS                                                                                                    \
    {0, 0, 0, 0}, {0, -1, 0, 0}, {0, 1, 0, 0}, {0, 0, -1, 0}, {0, 0, 1, 0}, {1, 0, 0, 0},                            \
    {                                                                                                                \
        1, 1, 1, 0                                                                                                   \
    }
#define HEAT(c, l, r, d, u, k, n, x, y, t)                                                                           \
    ((c) + (k) * (((l) + (r)) + ((d) + (u)) - 4.0f * (c)) / (2.0f + (n) * (n)) + 0.001f * (x) * (t)-0.0005f * (y))
/* wave: f64, three dimensions, u written, v = u linear, w constant. */
#define WAVE_TAPS                                                                                                    \
    {0, 0, 0, 0}, {0, -1, 0, 0}, {0, 1, 0, 0}, {0, 0, -1, 0}, {0, 0, 1, 0}, {0, 0, 0, -1}, {0, 0, 0, 2},             \
    {                                                                                                                \
        1, 0, 0, 0                                                                                                   \
    }
#define WAVE(c, l, r, d, u, f, b, v, x, y, z, t)                                                                     \
    (2.0 * (c) - (v) + 0.1 * ((l) + (r) + (d) + (u) + (f) + (b)-6.0 * (c)) + 1e-3 * (x) * (y) / ((z) + 1.0) + (t))
/* line: f64, one dimension, u far to both sides, v of no cell at all. */
#define LINE_TAPS                                                                                                    \
    {0, -4, 0, 0}, {0, -1, 0, 0}, {0, 0, 0, 0},                                                                      \
    {                                                                                                                \
        0, 3, 0, 0                                                                                                   \
    }
#define LINE_U(a, b, c, d, x, t) ((a) > (b) ? (c)*0.5 + (d) : (d) * (x) - (a) / ((t) + 1.0))
#define LINE_V(x, t)             ((x)*0.25 + (t))

#endif
