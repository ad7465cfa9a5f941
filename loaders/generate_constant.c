/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids of one value. The engine calls it through its descriptor.
 */
#include "common_generate_grid.h"

static const lacis_option_spec options[] = {
    LACIS_OPTIONS_GRID_SHAPE,
    {.name = "value", .form = 'r', .otherwise = "0", .help = "of every cell"},
    LACIS_OPTIONS_GRID_FIELDS,
};

static void row(const void *context, const lacis_grid *grid, int field, const int64_t *at, int64_t count, double *out)
{
    const double *value = context;
    (void)grid;
    (void)field;
    (void)at;
    for (int64_t i = 0; i < count; i++)
        out[i] = *value;
}

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    lacis_generate_grid g;
    double value;
    LACIS_TRY(lacis_generate_grid_begin(run, given, &g));
    LACIS_TRY(lacis_generate_real(run, given, "value", &value));
    g.row = row;
    g.context = &value;
    return lacis_generate_grid_make(run, &g, "constant", out);
}

const lacis_generator lacis_generator_constant = {
    .name = "constant",
    .summary = "grid: one value everywhere",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
