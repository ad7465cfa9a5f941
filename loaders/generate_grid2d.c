/* SPDX-License-Identifier: Apache-2.0
 *
 * A rows x cols grid: vertex r * cols + c is joined with its up to four neighbours, both ways. The engine calls it
 * through its descriptor.
 */
#include "common_generate.h"

static const lacis_option_spec options[] = {
    {.name = "rows", .form = 'i', .required = true, .help = "of the grid"},
    {.name = "cols", .form = 'i', .required = true, .help = "of the grid"},
    LACIS_OPTION_SEED,
    LACIS_OPTION_WEIGHTS,
};

static lacis_status emit(const lacis_generate *g, int64_t unit, lacis_sink *sink)
{
    int64_t cols = *(const int64_t *)g->context, col = unit % cols;
    if (unit >= cols) LACIS_TRY(lacis_generate_edge(g, sink, unit, unit - cols));
    if (col > 0) LACIS_TRY(lacis_generate_edge(g, sink, unit, unit - 1));
    if (col + 1 < cols) LACIS_TRY(lacis_generate_edge(g, sink, unit, unit + 1));
    if (unit + cols < g->vertices) LACIS_TRY(lacis_generate_edge(g, sink, unit, unit + cols));
    return LACIS_OK;
}

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    int64_t rows, cols;
    LACIS_TRY(lacis_generate_integer(run, given, "rows", 0, UINT32_MAX, &rows));
    LACIS_TRY(lacis_generate_integer(run, given, "cols", 0, UINT32_MAX, &cols));
    if (cols > 0 && rows > (int64_t)UINT32_MAX / cols)
        return lacis_run_fail(run, LACIS_RANGE, "a grid of %lld x %lld has more than 2^32 - 1 vertices",
                              (long long)rows, (long long)cols);
    lacis_generate g = {
        .vertices = rows * cols, .units = rows * cols, .block = 1 << 14, .emit = emit, .context = &cols};
    g.entries = 4.0 * (double)g.vertices;
    return lacis_generate_make(run, &g, "grid2d", given, out);
}

const lacis_generator lacis_generator_grid2d = {
    .name = "grid2d",
    .summary = "grid of rows x cols vertices, each joined with its four neighbours",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
