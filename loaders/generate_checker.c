/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids like a chess-board, of squares (cubes) of two values, the one at the origin of the first. The engine calls it
 * through its descriptor.
 */
#include "common_generate_grid.h"

static const lacis_option_spec options[] = {
    LACIS_OPTIONS_GRID_SHAPE,
    {.name = "size", .form = 'i', .otherwise = "8", .help = "cells along the side of a square"},
    {.name = "low", .form = 'r', .otherwise = "0", .help = "of the square at x = y = z = 0"},
    {.name = "high", .form = 'r', .otherwise = "1", .help = "of its neighbours"},
    LACIS_OPTIONS_GRID_FIELDS,
};

typedef struct board {
    int64_t size;
    double value[2];
} board;

static void row(const void *context, const lacis_grid *grid, int field, const int64_t *at, int64_t count, double *out)
{
    const board *b = context;
    int64_t across = at[1] / b->size + at[2] / b->size;
    (void)grid;
    (void)field;
    for (int64_t i = 0; i < count; i++)
        out[i] = b->value[((at[0] + i) / b->size + across) & 1];
}

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    lacis_generate_grid g;
    board b;
    LACIS_TRY(lacis_generate_grid_begin(run, given, &g));
    LACIS_TRY(lacis_generate_integer(run, given, "size", 1, INT64_MAX, &b.size));
    LACIS_TRY(lacis_generate_real(run, given, "low", &b.value[0]));
    LACIS_TRY(lacis_generate_real(run, given, "high", &b.value[1]));
    g.row = row;
    g.context = &b;
    return lacis_generate_grid_make(run, &g, "checker", out);
}

const lacis_generator lacis_generator_checker = {
    .name = "checker",
    .summary = "grid: squares of two values",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
